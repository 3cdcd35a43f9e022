import { expect, it } from "vitest";
import { containListeners } from "../../../src/engine/run_signal.ts";

function contained() {
  const controller = new AbortController();
  const failures: unknown[] = [];
  containListeners(controller.signal, { enter: (work) => work(), failed: (error) => failures.push(error) });
  return { controller, signal: controller.signal, failures };
}

it("F1 a contained signal calls each listener as the platform does: once, in order, until it is taken back", () => {
  const { controller, signal, failures } = contained();
  const calls: string[] = [];
  const twice = () => calls.push("twice");
  const gone = () => calls.push("gone");
  const object = { calls, handleEvent: ({ type }: Event) => calls.push(`object ${type}`) };
  signal.addEventListener("abort", twice);
  signal.addEventListener("abort", twice, { once: true });
  signal.addEventListener("abort", gone);
  signal.addEventListener("abort", object);
  signal.addEventListener("abort", function (this: unknown) {
    calls.push(this === signal ? "its own" : "another's");
  });
  EventTarget.prototype.addEventListener.call(signal, "abort", gone);
  signal.removeEventListener("abort", gone);
  signal.removeEventListener("abort", () => {});
  controller.abort();
  expect(calls).toEqual(["twice", "object abort", "its own"]);
  expect(failures).toEqual([]);
});

it("F1 a contained signal has one onabort, which may be taken away", () => {
  const { controller, signal } = contained();
  const calls: string[] = [];
  const second = () => calls.push("second");
  expect(signal.onabort).toBeNull();
  signal.onabort = () => calls.push("first");
  signal.onabort = second;
  expect(signal.onabort).toBe(second);
  controller.abort();
  expect(calls).toEqual(["second"]);
  const other = contained();
  other.signal.onabort = second;
  other.signal.onabort = null;
  other.controller.abort();
  expect(calls).toEqual(["second"]);
});

it("F1 a contained signal is still the platform's: others may listen to it, derive from it, and be refused by it", async () => {
  const { controller, signal } = contained();
  const derived = AbortSignal.any([signal]);
  const refused = new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  expect(signal).toBeInstanceOf(AbortSignal);
  controller.abort(new Error("over"));
  await expect(refused).rejects.toThrow("over");
  expect(derived.reason).toBe(signal.reason);
  await expect(fetch("data:,x", { signal })).rejects.toThrow("over");
});
