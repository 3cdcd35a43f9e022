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

/** The unit of work of a run (U3). */
export interface RunUnit {
  readonly client: TransactionClient;
  /** What commits together with the settlement. */
  operations(): Group<Done>;
  /** Refuses further calls; what is left to do once the settlement is committed follows. */
  close(): void;
  /** Carries out what lives in this process only, after the commit. */
  committed(): Promise<void>;
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
}

/** What a run goes on with. */
export type Prepared =
  | { readonly input: unknown }
  /** The target is gone: the schedule retires (I6). */
  | { readonly gone: string };
