import type { ChangeOptions, Schedule, ScheduleInfo, UpdateRequest } from "../contract/mod.ts";
import { Client } from "./client.ts";
import { type Creation, prepareMany } from "./create.ts";
import { infoOf } from "./info.ts";
import { createOnce, goneDocument } from "./receipt.ts";
import { flatRequest } from "./request.ts";
import type { ScheduleCalls } from "./schedule.ts";
import { findDocument } from "./scope.ts";
import { applyUpdate } from "./update.ts";

/** What can be read of a schedule without a call. */
export type Snapshot = Omit<Schedule, keyof ScheduleCalls>;

/** What came of a creation. */
export interface Told {
  readonly info: ScheduleInfo;
  /** Whether it was made; not so when its name or key found a live one. */
  readonly created: boolean;
}

/** The calls of a client as transports make them: some tell more, or may be repeated. */
export class ApiClient extends Client {
  /** Creates one schedule, given as one flat object, and tells everything about it; see `Repeatable`. */
  createTold(request: unknown, idempotencyKey?: string): Promise<Told> {
    return this.scope.call(async () => {
      const prepared = this.prepare(flatRequest(request, ""));
      const creation = prepared instanceof Promise ? await prepared : prepared;
      const made = await createOnce(this.host, this.principal, [creation], idempotencyKey, request);
      if ("ids" in made) return { info: await this.#told(made.ids[0]!, creation), created: !made.found };
      const { before, result } = made.done[0]!;
      return { info: infoOf(result.document!, creation.place, this.host.parsers), created: before === undefined };
    });
  }

  /** Creates many, each given as one flat object; see `Repeatable`. */
  createManyTold(requests: unknown, idempotencyKey?: string): Promise<readonly Snapshot[]> {
    return this.scope.call(async () => {
      const creations = await prepareMany(this.host, this.principal, requests);
      const made = await createOnce(this.host, this.principal, creations, idempotencyKey, requests);
      if ("done" in made) return made.done.map((done) => this.created(done));
      return await Promise.all(made.ids.map((id, i) => this.#told(id, creations[i]!)));
    });
  }

  /** As `update`; tells everything about the schedule. */
  updateTold(id: string, request: UpdateRequest, options?: ChangeOptions): Promise<ScheduleInfo> {
    return this.scope.call(async () => {
      const { place, done } = await applyUpdate(this.host, this.principal, this.scope, id, request, options);
      return infoOf(done.result.document!, place, this.host.parsers);
    });
  }

  /** A schedule that was made before; if it is gone, as far as the creation tells. */
  async #told(id: string, { place, definition }: Creation): Promise<ScheduleInfo> {
    const found = await findDocument(this.host, id);
    return infoOf(found?.document ?? goneDocument(id, definition), found?.place ?? place, this.host.parsers);
  }
}
