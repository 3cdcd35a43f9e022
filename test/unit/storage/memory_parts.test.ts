import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LaneQueue, type Waiter } from "../../../plugins/storage/memory/lane_queue.ts";
import { memory } from "../../../plugins/storage/memory/mod.ts";
import { document, id, store } from "../../../src/testing/storage/documents.ts";
import { context } from "../../conformance/storage_suite.ts";

describe("LaneQueue", () => {
  it("gives up its members in order of instant, then id, whatever is added and removed between", () => {
    const step = fc.record({ add: fc.boolean(), wakeAt: fc.integer({ min: 0, max: 20 }), pick: fc.nat() });
    fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new LaneQueue();
      const members: Waiter[] = [];
      for (const [n, { add, wakeAt, pick }] of steps.entries()) {
        if (add || members.length === 0) members.push(queue.add(String(n), wakeAt));
        else queue.remove(members.splice(pick % members.length, 1)[0]!);
        expect(queue.size).toBe(members.length);
        expect(queue.countUntil(10, 5)).toBe(Math.min(5, members.filter((one) => one.wakeAt <= 10).length));
      }
      const order = [];
      for (let first = queue.first(); first !== undefined; first = queue.first()) {
        order.push(first.wakeAt);
        queue.remove(first);
      }
      expect(order).toEqual(members.map((one) => one.wakeAt).sort((a, b) => a - b));
    }));
  });
});

describe("memory", () => {
  it("is still there when a closed store is opened again, and one handle is not opened twice", async () => {
    const storage = memory();
    await storage.open(context);
    await store(storage, [document(1, 5_000)]);
    await expect(storage.open(context)).rejects.toThrow("open already");
    await storage.close();
    await storage.open(context);
    expect((await storage.get(id(1)))?.id).toBe(id(1));
    await storage.close();
  });

  it("V3 lists nothing of documents that went, however many came and went", async () => {
    const storage = memory();
    await storage.open(context);
    for (let round = 0; round < 50; round++) {
      await store(storage, Array.from({ length: 20 }, (_, n) => document(20 * round + n, 5_000)));
      const { values } = await storage.advance({ lanes: ["work"], limit: 100, now: 5_000 }, (current) => ({
        document: null,
        value: current.id,
      }));
      expect(values.length).toBe(20);
      expect(await storage.find({ limit: 5 })).toEqual([]);
    }
    expect(await storage.backlog(9_000, 5)).toEqual([]);
    await storage.close();
  });
});
