import type { ScheduleDocument } from "./document.ts";
import type { AnyTask } from "./task.ts";

/**
 * Tasks that are kept in the store rather than in code, each as a record: a schedule of the task `records`, owned by the
 * system, whose only tag is the name of the task that it stands for. Any store keeps them, they commit with whatever is
 * committed beside them, and every instance that has the source knows them: from its start on, as soon as it hears that
 * another instance has changed something, when a creation or a call names one, and at each `tick`. A task in code goes
 * before one of the same name in a record. Schedules of a task whose record is gone wait (M2).
 *
 * @example
 * ```ts
 * import { createScheduler, defineTask } from "@ostinato/scheduler";
 * import { CONTRACT, type Plugin } from "@ostinato/scheduler/contract";
 *
 * const notes = defineTask("notes", { internal: true, run: () => {} });
 * const said: Plugin = {
 *   name: "said",
 *   contract: CONTRACT,
 *   tasks: {
 *     records: notes,
 *     taskOf: ({ definition }) => defineTask(definition.tags![0]!, () => definition.input),
 *   },
 * };
 * await using scheduler = createScheduler({ plugins: [said] });
 * await scheduler.at(notes, "9000-01-01T00:00:00Z", "hello", { tags: ["greeting"] });
 * console.log(await scheduler.invoke("greeting")); // hello
 * ```
 */
export interface TaskSource {
  /** The task whose schedules are the records; every instance with the source has it. */
  readonly records: AnyTask;
  /**
   * The task that a record stands for; `undefined`, which is logged, for a record that makes none.
   *
   * @param record As it was read last.
   * @param current Reads the record anew, for runs that must not go by an old one; `undefined` once it is gone.
   */
  taskOf(record: ScheduleDocument, current: () => Promise<ScheduleDocument | undefined>): AnyTask | undefined;
}
