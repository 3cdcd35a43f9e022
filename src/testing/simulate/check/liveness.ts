import type { DocumentView, FailureEntry, HostEntry } from "../trace.ts";
import type { Account } from "./account.ts";
import type { Bounds, Report } from "./types.ts";

/** Runs of one task on one host above which it may be full: the least limit of a task in a simulation. */
const NARROW = 2;

/** A host as far as it could do its work. */
interface Health {
  /** Since when nothing has been wrong with it; `Infinity` while something is. */
  since: number;
  /** The same, where a clock that was set is nothing wrong: it takes no lease (T8). */
  steadySince: number;
  readonly tasks: ReadonlySet<string>;
  cutOff: boolean;
  stalled: boolean;
  closing: boolean;
}

/**
 * What is owed happens within a bound once an instance is able to do it, and no lease is lost by an instance that was
 * well all the time.
 */
export class Liveness {
  readonly #bounds: Bounds;
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #hosts = new Map<string, Health>();
  /** Documents by when their time comes, in true time. */
  readonly #due = new Map<string, number>();
  #offset = 0;

  constructor(bounds: Bounds, accounts: ReadonlyMap<string, Account>) {
    this.#bounds = bounds;
    this.#accounts = accounts;
  }

  /** Since when a host has been well without a break. */
  wellSince(host: string): number {
    return this.#hosts.get(host)?.steadySince ?? Infinity;
  }

  host({ host, what, at, tasks = [] }: HostEntry, report: Report): void {
    if (what === "up") {
      this.#hosts.set(host, {
        since: at,
        steadySince: at,
        tasks: new Set(tasks),
        cutOff: false,
        stalled: false,
        closing: false,
      });
      return;
    }
    const health = this.#hosts.get(host);
    if (health === undefined) return;
    this.#look(at, report);
    if (what === "killed" || what === "closed") this.#hosts.delete(host);
    if (what === "closing") health.closing = true;
    if (what === "cut off") health.cutOff = true;
    if (what === "connected") health.cutOff = false;
    if (what === "stalled") health.stalled = true;
    if (what === "goes on") health.stalled = false;
    health.since = health.cutOff || health.stalled || health.closing ? Infinity : at;
    if (what !== "clock set") health.steadySince = health.since;
  }

  failed({ host, at }: FailureEntry, report: Report): void {
    const health = this.#hosts.get(host);
    if (health === undefined) return;
    this.#look(at, report);
    if (health.since === Infinity) return;
    health.since = at;
    health.steadySince = at;
  }

  /** The clock that decides was set: what is due by it changes. */
  clockSet(at: number, offset: number, report: Report): void {
    this.#look(at, report);
    for (const [id, due] of this.#due) this.#due.set(id, Math.max(at, due + this.#offset - offset));
    this.#offset = offset;
  }

  /** A document was committed to. */
  committed(id: string, at: number, after: DocumentView | null, report: Report): void {
    this.#lookAt(id, at, report);
    const wakeAt = after?.wakeAt ?? null;
    if (wakeAt === null) this.#due.delete(id);
    else this.#due.set(id, Math.max(at, wakeAt - this.#offset));
  }

  #look(at: number, report: Report): void {
    for (const id of this.#due.keys()) this.#lookAt(id, at, report);
  }

  #lookAt(id: string, at: number, report: Report): void {
    const due = this.#due.get(id);
    const account = this.#accounts.get(id);
    if (due === undefined || at - due <= this.#bounds.lateMs || account === undefined) return;
    for (const [name, { since, tasks }] of this.#hosts) {
      const { task } = account.definition;
      const isAble = account.view?.retired !== undefined || (tasks.has(task) && this.#running(task) < NARROW);
      const waited = at - Math.max(since, due);
      if (!isAble || waited <= this.#bounds.lateMs) continue;
      report(
        "T7",
        `due since ${due}, and ${name}, able all the time, left it for ${waited} ms; the bound is ${this.#bounds.lateMs}`,
        id,
      );
      this.#due.delete(id);
      return;
    }
  }

  /** Runs of a task that any host holds: where a limit may be reached nobody is held to a bound. */
  #running(task: string): number {
    if (task !== "narrow") return 0;
    let running = 0;
    for (const { view, definition } of this.#accounts.values()) {
      if (definition.task === task) running += view?.runs.length ?? 0;
    }
    return running;
  }
}
