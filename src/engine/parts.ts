import type {
  AnyTask,
  Clock,
  Group,
  Logger,
  RunMiddleware,
  ScheduleDocument,
  Storage,
  TransactionClient,
} from "../contract/mod.ts";
import type { Done, MachineEnv } from "../machine/mod.ts";
import type { Emitter } from "./emitter.ts";
import type { Slots } from "./slots.ts";

/** What a run's unit of work has to commit. */
export interface RunChanges {
  /** For the engine's own store: commits together with the settlement, after it in the same group (U3). */
  readonly stored: Group<Done>;
  /** For what lives in this process only; follows the commit. */
  readonly local: Group<Done>;
}

/** The unit of work of a run (U3). */
export interface RunUnit {
  readonly client: TransactionClient;
  /** Waits for calls under way, refuses any further one, and answers what to commit. */
  seal(): Promise<RunChanges>;
  /** Refuses any further call; nothing is to be committed. */
  discard(): void;
}

/** A handler that was called, until it is over. */
export interface RunningCall {
  readonly over: boolean;
}

/** What an engine is made of. */
export interface EngineParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emitter: Emitter;
  readonly env: MachineEnv;
  readonly tasks: ReadonlyMap<string, AnyTask>;
  readonly slots: Slots;
  readonly middleware: readonly RunMiddleware[];
  /** This scheduler object's id; leases carry it. */
  readonly instance: string;
  readonly leaseMs: number;
  /** Lets the process end while the scheduler is idle (X3). */
  readonly unref: boolean;
  /** Validates the stored input again and asks the task whether the run may go on (S4, P5, I6). */
  readonly prepare: (task: AnyTask, document: ScheduleDocument) => Prepared | Promise<Prepared>;
  readonly openUnit: (document: ScheduleDocument) => RunUnit;
  /** Calls a handler so that the calls it makes are known for those of its run. */
  readonly enter: <T>(run: RunningCall, call: () => T) => T;
  /** Carries out what a run changed in this process only, once its settlement is committed. */
  readonly applyLocal: (changes: Group<Done>) => void;
}

/** What a run goes on with. */
export type Prepared =
  | { readonly input: unknown }
  /** The target is gone: the schedule retires (I6). */
  | { readonly gone: string };
