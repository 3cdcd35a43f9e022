/**
 * All that a plugin author imports: types, error codes, limits, and the few pure functions that drivers share.
 *
 * @module
 */
export * from "./api.ts";
export * from "./api_json.ts";
export * from "./backlog.ts";
export * from "./check_document.ts";
export { checkJson, type JsonRule } from "./check_json.ts";
export * from "./client.ts";
export * from "./clock.ts";
export * from "./definition.ts";
export * from "./document.ts";
export * from "./errors.ts";
export * from "./evaluate.ts";
export * from "./event_names.ts";
export * from "./events.ts";
export * from "./explain.ts";
export * from "./fault_error.ts";
export * from "./info.ts";
export * from "./json.ts";
export * from "./limits.ts";
export * from "./option_errors.ts";
export * from "./options.ts";
export * from "./plugin.ts";
export * from "./policy.ts";
export * from "./history.ts";
export * from "./progress.ts";
export * from "./progress_text.ts";
export * from "./remote_client.ts";
export type * from "./run_signal.ts";
export * from "./schedule.ts";
export * from "./storage.ts";
export * from "./task.ts";
export * from "./task_info.ts";
export * from "./task_source.ts";
export * from "./time.ts";
export * from "./to_wire.ts";
export * from "./transaction_client.ts";
export * from "./zone/local_time.ts";
export { checkTimezone } from "./zone/timezone.ts";
