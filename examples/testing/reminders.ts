/**
 * Part of an application that schedules: appointments are reminded of on the evening before, and a message that does not
 * go out is tried again. What makes it easy to test is that the scheduler and its clock come from outside.
 *
 * @module
 */
import { defineTask, type Scheduler, type Task } from "../../mod.ts";

/** What a reminder is sent with. */
export type Send = (to: string, text: string) => Promise<void>;

/** The task that sends. */
export function remindTask(send: Send): Task<{ readonly to: string; readonly what: string }> {
  return defineTask("remind", {
    retry: { limit: 2, delay: "1m", backoff: 5 },
    run: (input: { readonly to: string; readonly what: string }) => send(input.to, `tomorrow: ${input.what}`),
  });
}

/** An appointment, by the clock on the wall of its city. */
export interface Appointment {
  readonly id: string;
  readonly to: string;
  readonly what: string;
  /** Such as `"2026-03-29"`. */
  readonly date: string;
  readonly timezone: string;
}

/** Schedules the reminder for six in the evening before; moving the appointment moves it. */
export async function remind(scheduler: Scheduler, { id, to, what, date, timezone }: Appointment): Promise<Date> {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // The first six o'clock in that zone that is less than a day before the date begins there, whatever its offset is.
  const from = new Date(midnight - 36 * 3_600_000);
  const evenings = scheduler.nextRuns({ cron: "0 18 * * *", timezone }, 3, { from });
  const eve = new Date(midnight - 86_400_000).toISOString().slice(0, 10);
  const at = evenings.find((evening) => localDate(evening, timezone) === eve)!;
  await scheduler.at("remind", at, { to, what }, { key: `appointment:${id}`, onConflict: "replace" });
  return at;
}

function localDate(at: Date, timezone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: timezone }).format(at);
}
