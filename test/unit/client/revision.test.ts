import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalText, digest, revisionOf } from "../../../src/client/revision.ts";
import { RESTING_PROGRESS, type ScheduleDefinition } from "../../../src/contract/mod.ts";

/** An object's members in another order, all the way down. */
function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]));
}

describe("revisions", () => {
  it("the text is JSON of the same value, and the same for any order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalText(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalText(reversed(value))).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("stay what they were, since instances of two versions share a store", () => {
    const definition: ScheduleDefinition = {
      task: "report",
      spec: { kind: "every", every: 60_000, anchor: 1_800_000_000_000 },
      options: { catchup: "once", jitter: 0 },
      owner: 'alice "é"',
      authority: { id: "alice", admin: true },
      adaptive: false,
      retention: 60_000,
      history: 20,
      createdAt: 1_800_000_000_000,
      input: { 10: [null, -1.5], 9: "a\nb", "a b": {} },
    };
    const progress = RESTING_PROGRESS;
    expect(revisionOf({ id: "x", definition, progress })).toBe("0m841h01jsoh55");
    expect(revisionOf({ id: "x", definition, progress: { ...progress, pausedAt: 1 } })).toBe("1fl9s6s19ia0t5");
    expect(digest("text", 4)).toBe("1stmuil1xlh3b909ldt4w0sm75k3");
  });
});
