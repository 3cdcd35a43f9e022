import { ABORT_GRACE_MS, type Clock, type Group, longTimer, RELEASE_MS } from "../contract/mod.ts";
import { changed, type Done, type MachineEvent, step, untouched } from "../machine/mod.ts";
import type { Engine } from "./engine.ts";
import type { Execution } from "./execution.ts";

/**
 * Ends an engine's runs (X1): gives back what was claimed and not started, waits for handlers up to the drain time,
 * then aborts them, waits a little more, and releases what is left for others.
 *
 * @param claimed Resolves when the claims that were under way have come in: none of their runs starts here any more.
 */
export async function closeRuns(engine: Engine, drainMs: number, claimed: Promise<void>): Promise<void> {
  const { clock, slots } = engine.parts;
  slots.stop();
  const ended = Promise.all([claimed, engine.drained(), release(engine, unstarted(engine), false)]).then(() => {});
  await within(clock, drainMs, ended);
  const late = engine.runs.values().filter(({ startedMono, over }) => startedMono !== undefined && !over);
  for (const execution of late) execution.abort("closed");
  await within(clock, ABORT_GRACE_MS, ended);
  const handed = release(engine, unstarted(engine), false);
  for (const execution of late) if (execution.finish()) execution.discard();
  const released = release(engine, late.filter(({ settling }) => !settling), true);
  await within(clock, RELEASE_MS, Promise.all([handed, released]).then(() => {}));
}

function unstarted(engine: Engine): Execution[] {
  return engine.runs.values().filter(({ startedMono }) => startedMono === undefined);
}

/** Resolves when a promise does, or after a time. */
export async function within(clock: Clock, withinMs: number, until: Promise<void>): Promise<void> {
  if (clock.pass !== undefined) return await clock.pass(withinMs, until);
  let cancel = () => {};
  const time = new Promise<void>((resolve) => {
    cancel = longTimer(clock, resolve, withinMs);
  });
  await Promise.race([time, until]);
  cancel();
}

/** Gives runs back, so that they start again wherever there is room; at most once means that they do not (M3). */
async function release(engine: Engine, executions: readonly Execution[], started: boolean): Promise<void> {
  const held = executions.filter((execution) => engine.runs.delete(execution.id));
  if (held.length === 0) return;
  try {
    await engine.apply(held.map((execution) => [operation(engine, execution, started)] satisfies Group<Done>));
  } catch {
    // The store is gone: the leases will run out by themselves.
  }
}

function operation(engine: Engine, execution: Execution, started: boolean): Group<Done>[number] {
  const { env, instance } = engine.parts;
  const event = eventOf(execution, instance, started, engine.now());
  return {
    select: { id: execution.document.id },
    decide(before, now) {
      return before === undefined ? untouched(before) : changed(before, step(before, event, now, env));
    },
  };
}

function eventOf(
  { run, document, startedAt }: Execution,
  instance: string,
  started: boolean,
  now: number,
): MachineEvent {
  const { fence } = run;
  if (!started || document.definition.onLost !== "fault") return { type: "released", fence, instance, started };
  const fault = { name: "AbortError", message: "the scheduler closed before the run had ended", at: now };
  const durationMs = Math.max(0, now - startedAt);
  return { type: "settled", settlement: { fence, outcome: "aborted", startedAt, endedAt: now, durationMs, fault } };
}
