import {
  type Instant,
  invalidOption,
  type ListFilter,
  MAX_PAGE,
  type NextRunsSpec,
  type Page,
  type Principal,
  type RunInfo,
  type Schedule,
  type ScheduleClient,
  type ScheduleDocument,
  type ScheduleList,
  type ScheduleRequest,
  type StopOptions,
  type SyncOptions,
  type TaskInfo,
  type TaskRef,
  type TransactionClient,
} from "../contract/mod.ts";
import { parseRunId } from "../machine/mod.ts";
import { authorizeUse, findTask, withoutTelling } from "./authorize.ts";
import { Calls, TransactionCalls } from "./calls.ts";
import { readStopFor } from "./change_options.ts";
import type { ClientHost, Place } from "./host.ts";
import { runningOf } from "./info.ts";
import { kept, keptRequests } from "./kept.ts";
import { findPage, findPages, listQuery } from "./list.ts";
import { nextRuns } from "./next_runs.ts";
import { eventOperation } from "./operations.ts";
import { ScheduleSnapshot } from "./schedule.ts";
import { readInput, validateInput } from "./schema.ts";
import { applyAll, DirectScope, EnlistedScope } from "./scope.ts";
import { syncGroup } from "./sync.ts";
import { checkText, readId } from "./text.ts";
import { tasksOf } from "./tasks.ts";
import { createUnit } from "./unit.ts";

/**
 * Makes the calls of one principal over a host.
 *
 * @param principal The system's, or one that `checkPrincipal` answered.
 */
export function createClient<Extra extends object = object>(
  host: ClientHost,
  principal: Principal,
): ScheduleClient<Extra> {
  return new Client(host, principal) as unknown as ScheduleClient<Extra>;
}

/** See {@linkcode createClient}. */
export class Client extends Calls implements ScheduleClient {
  constructor(host: ClientHost, principal: Principal) {
    super(host, principal, new DirectScope(host));
  }

  sync(
    requests: readonly (ScheduleRequest & { readonly name: string })[],
    options: SyncOptions,
  ): Promise<readonly Schedule[]> {
    const [declared, group] = [keptRequests(requests), kept(options)];
    return this.scope.call(async () => {
      const done = await syncGroup(this.host, this.principal, declared, group);
      return done.map((one) => this.created(one));
    });
  }

  running(): Promise<readonly RunInfo[]> {
    return this.scope.call(async () => {
      const owned = this.principal.admin === true ? {} : { owner: this.principal.id };
      const runs: RunInfo[] = [];
      for await (const page of findPages(this.host, { ...owned, running: true, retired: true, limit: MAX_PAGE })) {
        for (const document of page) runs.push(...runningOf(document).reverse());
      }
      return runs;
    });
  }

  abortRun(runId: string): Promise<boolean> {
    return this.scope.call(async () => {
      if (typeof runId !== "string") throw invalidOption("runId", runId, "a run's id, as text");
      const run = parseRunId(runId);
      const id = run === undefined ? undefined : readId(run.id);
      if (run === undefined || id === undefined) return false;
      const operation = eventOperation(this.host, this.principal, id, { type: "aborted", fence: run.fence });
      return (await this.scope.one({ place: await this.scope.placeOf(id), operation })).result.answer;
    });
  }

  list(filter?: ListFilter): ScheduleList {
    const given = kept(filter);
    const page = (): Promise<Page> =>
      this.scope.call(async () => {
        const { documents, ...rest } = await findPage(this.host, listQuery(this.principal, given));
        return { schedules: documents.map((document) => this.#snapshot(document)), ...rest };
      });
    const { scope, host, principal } = this;
    const snapshot = (document: ScheduleDocument) => this.#snapshot(document);
    return {
      page,
      async *[Symbol.asyncIterator]() {
        const query = await scope.call(() => listQuery(principal, given));
        for await (const documents of findPages(host, query)) yield* documents.map(snapshot);
      },
    };
  }

  listFor(target: string): Promise<readonly Schedule[]> {
    return this.scope.call(async () => {
      const found: Schedule[] = [];
      const query = { target: checkText(target, "target"), limit: MAX_PAGE };
      for await (const page of findPages(this.host, query)) {
        for (const document of page) found.push(this.#snapshot(document));
      }
      return found;
    });
  }

  stopFor(target: string, options?: StopOptions): Promise<number> {
    const given = kept(options);
    return this.scope.call(async () => {
      const { abortRunning } = readStopFor(given);
      const owned = this.principal.admin === true ? {} : { owner: this.principal.id };
      const query = { ...owned, target: checkText(target, "target"), limit: MAX_PAGE };
      let stopped = 0;
      for (const place of ["stored", "local"] as const) {
        for await (const page of findPages(this.host, query, [place])) {
          stopped += await this.#stopAll(place, page, abortRunning);
        }
      }
      return stopped;
    });
  }

  tasks(): Promise<readonly TaskInfo[]> {
    return this.scope.call(() => tasksOf(this.host, this.principal));
  }

  nextRuns(spec: NextRunsSpec, count: number, options?: { readonly from?: Instant }): Date[] {
    this.host.assertOpen();
    return nextRuns(this.host, spec, count, options);
  }

  transaction<Result>(work: (tx: TransactionClient) => Promise<Result> | Result): Promise<Result> {
    return this.scope.call(async () => {
      if (typeof work !== "function") throw invalidOption("transaction", work, "a function of the transaction");
      const unit = createUnit(this.host, this.principal, { of: "transaction", after: this });
      let result: Result;
      try {
        result = await work(unit.client);
      } catch (error) {
        unit.discard();
        throw error;
      }
      unit.settled(await applyAll(this.host, await unit.changes()));
      return result;
    });
  }

  within(transaction: unknown): TransactionClient {
    return new TransactionCalls(this.host, this.principal, new EnlistedScope(this.host, transaction));
  }

  invoke<Input>(task: TaskRef<Input>, ...rest: readonly unknown[]): Promise<unknown> {
    const given = kept(rest[0]);
    return this.scope.call(async () => {
      await this.host.learn(task, this.principal);
      const found = findTask(this.host, this.principal, task, "task");
      const read = () => validateInput(found, readInput(given));
      const input = await withoutTelling(this.host, this.principal, found, "task", read);
      await authorizeUse(this.host, this.principal, found, input, "task");
      return this.host.invoke(found, input, this.principal);
    });
  }

  #snapshot(document: ScheduleDocument): Schedule {
    return new ScheduleSnapshot(document, () => this);
  }

  /** Each by itself: those that are over by now hold up none of the others. */
  async #stopAll(place: Place, documents: readonly ScheduleDocument[], abortRunning: boolean): Promise<number> {
    const groups = documents.map(({ id }) => [
      eventOperation(this.host, this.principal, id, { type: "stopped", abortRunning }),
    ]);
    const results = await this.host.apply(place, groups);
    return results.filter((result) => result.committed && result.values[0]!.result.answer).length;
  }
}
