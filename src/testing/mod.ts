/**
 * What tests need: a clock that a test moves, a store that fails on purpose, and the conformance cases by which whoever
 * writes a driver or a transport proves it.
 *
 * @module
 */
export * from "./faulty_store.ts";
export * from "./manual_clock.ts";
export * from "./simulate.ts";
export * from "./storage_cases.ts";
export * from "./transport_cases.ts";
