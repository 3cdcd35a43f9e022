export { within } from "./close.ts";
export { Emitter } from "./emitter.ts";
export { Engine } from "./engine.ts";
export { invoke } from "./invoke.ts";
export type { EngineParts, Prepared, RunChanges, RunningCall, RunUnit } from "./parts.ts";
export { Slots } from "./slots.ts";
