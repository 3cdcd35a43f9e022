import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fifo } from "../../../src/engine/fifo.ts";
import { TransientMap } from "../../../src/engine/transient_map.ts";

describe("what comes and goes with every run", () => {
  it("leaves a queue in the order in which it came, however often it grows and wraps around", () => {
    const calls = fc.array(fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ take: fc.integer({ min: 0, max: 40 }) }),
    ));
    fc.assert(fc.property(calls, (calls) => {
      const queue = new Fifo<number>();
      const model: number[] = [];
      let next = 0;
      for (const call of calls) {
        if ("take" in call) expect(queue.take(call.take)).toEqual(model.splice(0, call.take));
        else for (let i = 0; i < call.push; i++) model.push(next), queue.push(next++);
        expect(queue.length).toBe(model.length);
      }
      while (model.length > 0) expect(queue.shift()).toBe(model.shift());
      expect(queue.shift()).toBeUndefined();
    }));
  });

  it("is found in a map until it has left", () => {
    const map = new TransientMap<{ readonly n: number }>();
    for (let n = 0; n < 100; n++) map.set(`run ${n}`, { n });
    expect(map.delete("run 7")).toBe(true);
    expect(map.delete("run 7")).toBe(false);
    map.set("run 8", { n: 80 });
    expect([map.size, map.has("run 7"), map.get("run 7"), map.get("run 8")]).toEqual([99, false, undefined, { n: 80 }]);
    const looked: number[] = [];
    expect(map.some(({ n }) => looked.push(n) === 3)).toBe(true);
    expect(looked, "no further than it has to").toEqual([0, 1, 2]);
    expect(map.some(({ n }) => n === 7)).toBe(false);
    expect(map.values().map(({ n }) => n)).toEqual(
      [...Array(100).keys()].filter((n) => n !== 7).map((n) => n === 8 ? 80 : n),
    );
  });
});
