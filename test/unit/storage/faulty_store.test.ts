import { describe, expect, it } from "vitest";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { faultyStore } from "../../../src/testing/mod.ts";
import { create, document, id } from "../../../src/testing/storage/documents.ts";
import { context } from "../../conformance/storage_suite.ts";

async function tried(reply: "fails" | "is lost", calls?: number) {
  const inner = memory();
  await inner.open(context);
  const { storage, struck, calls: made } = faultyStore(inner, {
    at: 2,
    reply,
    ...(calls === undefined ? {} : { calls }),
  });
  const outcomes: string[] = [];
  for (let n = 0; n < 4; n++) {
    const done = storage.apply([create(document(n, 5_000))], 1_000);
    outcomes.push(await done.then(() => "ok", (error) => error.code));
  }
  const stored = (await inner.find({ limit: 9 })).map((found) => found.id);
  return { outcomes, stored, struck: struck(), made: made() };
}

describe("faultyStore", () => {
  it("fails the call it was told to, before it takes effect", async () => {
    const { outcomes, stored, struck, made } = await tried("fails");
    expect(outcomes).toEqual(["ok", "store_unavailable", "ok", "ok"]);
    expect(stored).toEqual([0, 2, 3].map(id));
    expect([struck, made]).toEqual([true, 4]);
  });

  it("loses the reply of a call that takes effect", async () => {
    const { outcomes, stored } = await tried("is lost");
    expect(outcomes).toEqual(["ok", "store_unavailable", "ok", "ok"]);
    expect(stored).toEqual([0, 1, 2, 3].map(id));
  });

  it("fails several calls in a row: an outage", async () => {
    expect((await tried("fails", 2)).outcomes).toEqual(["ok", "store_unavailable", "store_unavailable", "ok"]);
  });
});
