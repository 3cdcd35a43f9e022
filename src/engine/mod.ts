export { Emitter, isThenable } from "./emitter.ts";
export { Engine } from "./engine.ts";
export { faultOf } from "./fault.ts";
export { readReason } from "./context.ts";
export type { EngineParts, Prepared, RunUnit } from "./parts.ts";
export { Slots } from "./slots.ts";
