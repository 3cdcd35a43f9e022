import type { JsonObject } from "./json.ts";

/** A task, as whoever may use it is told of it. */
export interface TaskInfo {
  /** Its name. */
  readonly name: string;
  /**
   * JSON Schema (draft 2020-12) of the input; absent where the task has no schema, or one that cannot tell it: it can if it
   * keeps the Standard JSON Schema, as those of Zod do.
   */
  readonly inputSchema?: JsonObject;
}
