import {
  type AtOptions,
  type ChangeOptions,
  type CronOptions,
  type Duration,
  type EveryOptions,
  type Explanation,
  type InputAndOptions,
  type Instant,
  type Principal,
  type RunInfo,
  type Schedule,
  type ScheduleInfo,
  type ScheduleRequest,
  SchedulerError,
  show,
  type StopOptions,
  type TaskRef,
  type TransactionClient,
  type UpdateRequest,
} from "../contract/mod.ts";
import { type Creation, type CreationRequest, prepare, prepareMany } from "./create.ts";
import { explain } from "./explain.ts";
import type { ClientHost, Done } from "./host.ts";
import { infoOf, runsOf } from "./info.ts";
import { kept, keptRequest, keptRequests } from "./kept.ts";
import { type ClientEvent, eventOperation, isGone, isLive } from "./operations.ts";
import { mayManage, notFound, notYours } from "./principal.ts";
import { flatRequest } from "./request.ts";
import { unlessRevised } from "./revision.ts";
import { type ScheduleCalls, ScheduleSnapshot } from "./schedule.ts";
import type { Found, Scope } from "./scope.ts";
import { checkText, readId } from "./text.ts";
import { readChange, readStop } from "./change_options.ts";
import type { GivenTiming } from "./timing.ts";
import { applyUpdate } from "./update.ts";

/** The calls that create, change and look at single schedules, in any scope. */
export class Calls implements TransactionClient, ScheduleCalls {
  protected readonly host: ClientHost;
  protected readonly scope: Scope;
  /** Whom these calls act for. */
  readonly principal: Principal;
  readonly #after: () => ScheduleCalls;

  /** @param after What a schedule's own methods come to; these calls unless they end before the schedule does. */
  constructor(host: ClientHost, principal: Principal, scope: Scope, after?: () => ScheduleCalls) {
    this.host = host;
    this.principal = principal;
    this.scope = scope;
    this.#after = after ?? (() => this);
  }

  at<Input>(task: TaskRef<Input>, when: Instant, ...rest: InputAndOptions<Input, AtOptions>): Promise<Schedule> {
    return this.#create(task, { kind: "at", by: "at", value: when }, rest);
  }

  after<Input>(task: TaskRef<Input>, delay: Duration, ...rest: InputAndOptions<Input, AtOptions>): Promise<Schedule> {
    return this.#create(task, { kind: "at", by: "after", value: delay }, rest);
  }

  every<Input>(
    task: TaskRef<Input>,
    interval: Duration,
    ...rest: InputAndOptions<Input, EveryOptions>
  ): Promise<Schedule> {
    return this.#create(task, { kind: "every", by: "every", value: interval }, rest);
  }

  cron<Input>(
    name: string,
    expression: string,
    task: TaskRef<Input>,
    ...rest: InputAndOptions<Input, CronOptions>
  ): Promise<Schedule> {
    return this.#create(task, { kind: "cron", by: "cron", value: expression }, rest, () => {
      if (typeof expression !== "string") throw outOfOrder(expression);
      return checkText(name, "name");
    });
  }

  createMany(requests: readonly ScheduleRequest[]): Promise<readonly Schedule[]> {
    const given = keptRequests(requests);
    return this.scope.call(async () => {
      return (await this.scope.many(await prepareMany(this.host, this.principal, given))).map((done) =>
        this.created(done)
      );
    });
  }

  /** Creates one schedule that is given as one flat object, as transports give it; `where` as in `flatRequest`. */
  create(request: unknown, where = ""): Promise<Schedule> {
    const given = keptRequest(request);
    return this.scope.call(async () => {
      return this.created(await this.scope.one(await this.prepare(flatRequest(given, where))));
    });
  }

  valid(id: string): Promise<boolean> {
    return this.scope.call(async () => {
      const known = readId(id);
      const found = known === undefined ? undefined : await this.scope.find(known);
      return found !== undefined && isLive(found.document);
    });
  }

  stop(id: string, options?: StopOptions & ChangeOptions): Promise<boolean> {
    return this.#event(id, options, (given) => {
      const { abortRunning, ...change } = readStop(given);
      return [{ type: "stopped", abortRunning }, change];
    });
  }

  pause(id: string, options?: ChangeOptions): Promise<boolean> {
    return this.#event(id, options, (given) => [{ type: "paused" }, readChange(given, "pause")]);
  }

  resume(id: string, options?: ChangeOptions): Promise<boolean> {
    return this.#event(id, options, (given) => [{ type: "resumed" }, readChange(given, "resume")]);
  }

  trigger(id: string, options?: ChangeOptions): Promise<boolean> {
    return this.#event(id, options, (given) => [{ type: "triggered" }, readChange(given, "trigger")]);
  }

  update(id: string, request: UpdateRequest, options?: ChangeOptions): Promise<Schedule> {
    const [given, change] = kept([request, options]);
    return this.scope.call(async () => {
      const { done } = await applyUpdate(this.host, this.principal, this.scope, id, given, change);
      return this.created(done);
    });
  }

  info(id: string): Promise<ScheduleInfo> {
    return this.scope.call(async () => {
      const { document, place } = await this.#inspected(id);
      return infoOf(document, place, this.host.parsers);
    });
  }

  runs(id: string): Promise<readonly RunInfo[]> {
    return this.scope.call(async () => runsOf((await this.#inspected(id)).document));
  }

  explain(id: string): Promise<Explanation> {
    return this.scope.call(async () => {
      const { document } = await this.#inspected(id);
      const ability = this.host.ability(document.definition.task);
      const { env, parsers } = this.host;
      return explain(document, { now: this.host.now(), env, parsers, ability });
    });
  }

  /** Checks a creation for whom these calls act. */
  protected prepare(request: CreationRequest): Creation | Promise<Creation> {
    return prepare(this.host, this.principal, request);
  }

  /** The schedule that a creation or an update came to. */
  protected created({ result }: Done): Schedule {
    const schedule = new ScheduleSnapshot(result.document!, this.#after);
    this.scope.adopt?.(schedule);
    return schedule;
  }

  #create(task: unknown, timing: GivenTiming, rest: readonly unknown[], name?: () => string): Promise<Schedule> {
    const [input, options] = kept(rest);
    const when = { ...timing, value: kept(timing.value) } as GivenTiming;
    return this.scope.call(async () => {
      const request = { task, timing: when, input, options, prefix: "" };
      const creation = this.prepare(name === undefined ? request : { ...request, name: name() });
      return this.created(await this.scope.one(creation instanceof Promise ? await creation : creation));
    });
  }

  #event(
    id: string,
    options: unknown,
    read: (given: unknown) => readonly [ClientEvent, ChangeOptions],
  ): Promise<boolean> {
    const given = kept(options);
    return this.scope.call(async () => {
      const known = readId(id);
      const [event, change] = read(given);
      if (known === undefined) return false;
      const operation = unlessRevised(eventOperation(this.host, this.principal, known, event), change);
      const { result } = await this.scope.one({ place: await this.scope.placeOf(known), operation });
      return result.answer;
    });
  }

  /** A document that the caller may see. */
  async #inspected(id: string): Promise<Found> {
    const known = readId(id);
    const found = known === undefined ? undefined : await this.scope.find(known);
    if (found === undefined || isGone(found.document)) throw notFound(id);
    if (!mayManage(this.principal, found.document)) throw notYours(id);
    return found;
  }
}

/** The same calls inside a unit of work or a transaction of the application. */
export class TransactionCalls extends Calls {
  /** The types have no such call, but a caller without types may try it. */
  transaction(): Promise<never> {
    return this.scope.call(() => {
      throw new SchedulerError("conflict", "transaction: already inside a unit of work; make the changes through it");
    });
  }
}

/** The error for a task, or anything else, in the place of a cron's expression. */
function outOfOrder(given: unknown): SchedulerError {
  const message = `cron: ${show(given)} is no cron expression; expected cron(name, expression, task, input, options)`;
  return new SchedulerError("invalid_cron", message, { details: { where: "cron", given: show(given) } });
}
