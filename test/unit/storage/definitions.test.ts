import { describe, expect, it } from "vitest";
import { decodeRow } from "../../../plugins/storage/sql/codec.ts";
import { Definitions } from "../../../plugins/storage/sql/definitions.ts";
import { MAX_CACHED_DEFINITIONS, type ScheduleDefinition, writeProgress } from "../../../src/contract/mod.ts";
import { document } from "../../../src/testing/storage/documents.ts";

const every: ScheduleDefinition["spec"] & { kind: "every" } = { kind: "every", every: 60_000, anchor: 0 };

function row(n: number, spec: ScheduleDefinition["spec"]) {
  const { id, definition, progress } = document(n, 5_000, { definition: { spec } });
  return { id, definition: JSON.stringify(definition), progress: writeProgress(progress), parked: null };
}

describe("definitions that were read before", () => {
  it("are the same object for the same text, and read anew for another", () => {
    const known = new Definitions();
    const first = decodeRow(row(1, every), known).document!.definition;
    expect(decodeRow(row(1, every), known).document!.definition).toBe(first);
    const changed = decodeRow(row(1, { ...every, every: 120_000 }), known).document!.definition;
    expect(changed.spec).toEqual({ ...every, every: 120_000 });
    expect(decodeRow(row(1, every), known).document!.definition).toEqual(first);
  });

  it("are not kept of one-shots, nor of rows that are damaged", () => {
    const known = new Definitions();
    const once = row(1, { kind: "at", at: 5_000 });
    expect(decodeRow(once, known).document).toBeDefined();
    expect(known.get(once.id, once.definition)).toBeUndefined();
    const damaged = { ...row(2, every), progress: "{" };
    expect(decodeRow(damaged, known).document).toBeUndefined();
    expect(known.get(damaged.id, damaged.definition)).toBeUndefined();
  });

  it("are bounded, the latest used stay", () => {
    const known = new Definitions();
    const { definition } = document(0, 5_000, { definition: { spec: every } });
    for (let n = 0; n < MAX_CACHED_DEFINITIONS; n++) {
      known.set(`${n}`, "text", definition);
      known.get("0", "text");
    }
    expect(known.get("0", "text")).toBe(definition);
    expect(known.get("1", "text")).toBeUndefined();
    expect(known.get(`${MAX_CACHED_DEFINITIONS - 1}`, "text")).toBe(definition);
  });
});
