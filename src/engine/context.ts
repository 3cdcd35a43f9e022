import {
  copyJson,
  type Json,
  type Logger,
  MAX_NAME_LENGTH,
  type Principal,
  type RunContext,
  type RunSchedule,
  type RunSignal,
  SchedulerError,
  show,
  type TransactionClient,
} from "../contract/mod.ts";
import type { Execution } from "./execution.ts";
import type { EngineParts, RunUnit } from "./parts.ts";

/** What a handler is told of a scheduled run. Parts that cost something are made when they are asked for. */
export class ScheduledContext implements RunContext {
  readonly #execution: Execution;
  readonly #parts: Pick<EngineParts, "logger" | "openUnit">;
  #retire: RunContext["retire"] | undefined;
  #requireCaller: RunContext["requireCaller"] | undefined;
  readonly caller = undefined;
  /** The handler's own copy. */
  #state: Json | undefined;
  /** The unit of work, if the handler asked for it. */
  unit: RunUnit | undefined;
  /** The reason given to `retire`, if any. */
  retireReason: string | undefined;

  constructor(execution: Execution, parts: Pick<EngineParts, "logger" | "openUnit">) {
    this.#execution = execution;
    this.#parts = parts;
  }

  get logger(): Logger {
    return this.#parts.logger;
  }

  get scheduledAt(): Date {
    return new Date(this.#execution.run.point);
  }

  get elapsed(): number {
    const { run, startedAt } = this.#execution;
    return run.previousStart === undefined ? 0 : Math.max(0, startedAt - run.previousStart);
  }

  get attempt(): number {
    return this.#execution.run.attempt;
  }

  get runId(): string {
    return this.#execution.id;
  }

  get state(): Json | undefined {
    return this.#state ??= copyJson(this.#execution.document.definition.state);
  }

  get target(): string | undefined {
    return this.#execution.document.definition.target;
  }

  get missed(): number {
    return this.#execution.run.missed;
  }

  get signal(): RunSignal {
    return this.#execution.signal;
  }

  get schedule(): RunSchedule {
    const { id, definition } = this.#execution.document;
    return { id, name: definition.name, kind: definition.spec.kind };
  }

  get owner(): string {
    return this.#execution.document.definition.owner;
  }

  get runAs(): string {
    const { runAs, owner } = this.#execution.document.definition;
    return runAs ?? owner;
  }

  get schedules(): TransactionClient {
    this.unit ??= this.#execution.over ? this.#lateUnit() : this.#parts.openUnit(this.#execution.document);
    return this.unit.client;
  }

  // These answer functions rather than being methods, so that a handler may take them out of its context.
  get requireCaller(): RunContext["requireCaller"] {
    return this.#requireCaller ??= (): Principal => {
      throw new SchedulerError(
        "no_caller",
        `run ${this.runId} of schedule ${this.schedule.id} has no caller: it was scheduled, not invoked`,
      );
    };
  }

  get retire(): RunContext["retire"] {
    return this.#retire ??= (reason: string): void => {
      const read = readReason(reason);
      if (this.#execution.over) {
        throw new SchedulerError(
          "conflict",
          `retire: the run is over; stop schedule ${this.schedule.id} through the scheduler itself from now on`,
        );
      }
      this.retireReason = read;
    };
  }

  /** For what a handler left behind and that asks only now: nobody would commit it, so it refuses. */
  #lateUnit(): RunUnit {
    const unit = this.#parts.openUnit(this.#execution.document);
    unit.discard();
    return unit;
  }
}

/** Checks a reason given to `ctx.retire`. */
function readReason(reason: string): string {
  if (
    typeof reason === "string" && reason !== "" && reason.length <= MAX_NAME_LENGTH && reason.isWellFormed() &&
    !reason.includes("\u0000")
  ) {
    return reason;
  }
  throw new SchedulerError(
    "invalid_option",
    `retire: ${show(reason)} is not a reason; expected text of 1 to ${MAX_NAME_LENGTH} characters`,
  );
}
