export { cadenceOf } from "./cadence.ts";
export { createDocument } from "./change.ts";
export { STOPPED } from "./retire.ts";
export { parseRunId, runId } from "./run_id.ts";
export { DEFAULT_MAX_LOST } from "./settle.ts";
export { p99 } from "./sketch.ts";
export { type Standing, standing } from "./standing.ts";
export { park, step } from "./step.ts";
export * from "./types.ts";
