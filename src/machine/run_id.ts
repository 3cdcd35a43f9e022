/** A run's id: its schedule's id and its fence, so that it is unique for ever and leads to its document. Never a ULID. */
export function runId(scheduleId: string, fence: number): string {
  return `${scheduleId}-${fence.toString(36)}`;
}

const RUN_ID = /^([^-]{1,64})-([0-9a-z]{1,11})$/;

/** Reads a run's id; `undefined` for anything else. */
export function parseRunId(text: string): { readonly id: string; readonly fence: number } | undefined {
  const match = typeof text === "string" ? RUN_ID.exec(text) : null;
  return match === null ? undefined : { id: match[1]!, fence: parseInt(match[2]!, 36) };
}
