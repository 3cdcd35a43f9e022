import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRow, encodeProgress, encodeRow, inspectRow } from "../../../plugins/storage/sql/codec.ts";
import { columnText, fromColumnText, readTablePrefix } from "../../../plugins/storage/sql/tables.ts";
import { document, moved, retired } from "../../../src/testing/storage/documents.ts";

describe("column texts", () => {
  // Pieces that have been cut, replaced, or taken for an escape, put together at random.
  const text = fc.array(fc.constantFrom("a", "\u0000", "\\", "\\u0000", '"', "\ud800", "\udc00", "\ufffd", "é", "\n"))
    .map((pieces) => pieces.join(""));

  it("S4 are equal exactly when the texts are, and lead back to them", () => {
    fc.assert(fc.property(text, text, (a, b) => {
      expect(columnText(a) === columnText(b)).toBe(a === b);
      expect(fromColumnText(columnText(a))).toBe(a);
    }));
  });

  it("S4 hold nothing that a database or a binding cuts or replaces", () => {
    fc.assert(fc.property(text, (a) => {
      // deno-lint-ignore no-control-regex
      expect(columnText(a)).not.toMatch(/[\u0000-\u001f]|\p{Cs}/u);
    }));
  });

  it("are the texts themselves where nothing is in the way, so that people can read the columns", () => {
    expect(columnText("room:42 – Größe 🎵")).toBe("room:42 – Größe 🎵");
  });

  it("answer a column that was edited by hand as it is", () => {
    expect(fromColumnText('a"b\\')).toBe('a"b\\');
  });
});

describe("rows", () => {
  const whole = document(1, 5_000, { definition: { name: "n", key: "k", group: "g", target: "t", tags: ["a\u0000"] } });

  it("hold a document that comes back the same, with its resting fields", () => {
    expect(decodeRow(encodeRow(whole)).document).toEqual(whole);
    const busy = moved(whole, { fence: 3, lastRun: 0, lastDurationMs: 0, pausedAt: 0, wakeAt: 0 });
    expect(decodeRow(encodeRow(busy)).document).toEqual(busy);
  });

  it("T7 round a deadline between two milliseconds up, since nothing may happen before it", () => {
    const row = encodeProgress(moved(whole, { wakeAt: 5_000.25, next: { point: 5_000.25, at: 5_000.25 } }));
    expect([row.wake_at, row.next_run]).toEqual([5_001, 5_001]);
  });

  it("I5 free name and key once retired, and keep both in the definition", () => {
    const row = encodeRow(retired(whole, 6_000));
    expect([row.name, row.dedupe_key, row.lane, row.live]).toEqual([null, null, "", 0]);
    expect(decodeRow(row).document?.definition.name).toBe("n");
  });

  it("say why they cannot be used", () => {
    const row = encodeRow(whole);
    expect(decodeRow({ ...row, progress: "{" }).damage).toMatch(/JSON/);
    for (const text of ["null", "[]", "7"]) {
      expect(decodeRow({ ...row, progress: text }).damage).toMatch(/^progress: .*expected an object/);
    }
    expect(decodeRow({ ...row, definition: "null" }).damage).toBe("definition: null; expected an object");
    expect(decodeRow({ ...row, progress: '{"wakeAt":"soon"}' }).damage).toMatch(/^progress.wakeAt: "soon"/);
  });

  it("make up from their columns what their texts no longer tell", () => {
    const shown = inspectRow({ ...encodeRow(whole), definition: "" });
    expect(shown.definition).toMatchObject({
      task: "work",
      owner: "system",
      name: "n",
      key: "k",
      group: "g",
      target: "t",
    });
    expect(shown.parked).toMatch(/JSON/);
    expect(inspectRow({ ...encodeRow(retired(whole, 1)), progress: "" }).progress.retired?.reason).toBe("failed");
    expect(inspectRow({ ...encodeRow(whole), progress: "", parked: "as it said" }).parked).toBe("as it said");
  });
});

describe("readTablePrefix", () => {
  it("takes what can begin an identifier, and nothing else", () => {
    expect(readTablePrefix(undefined)).toBe("ostinato_");
    expect(readTablePrefix("app1_")).toBe("app1_");
    for (const bad of ["", "1a", "a-b", 'a"; drop table x; --', "a b", "x".repeat(41), 7, null, "ü"]) {
      expect(() => readTablePrefix(bad)).toThrow(/^tablePrefix: /);
    }
  });
});
