import type { Backlog } from "../../../src/contract/mod.ts";
import { LOOK_FRESH_MS, LOOK_PATIENCE_MS } from "./limits.ts";
import type { ObservedScheduler } from "./served.ts";

/** The store did not answer in time. */
export class LookTimeout extends Error {
  override readonly name = "LookTimeout";
}

interface Look {
  readonly answer: Promise<Backlog>;
  readonly askedAt: number;
  answeredAt?: number;
}

/**
 * Looks at what waits in the store, once for all who ask at about the same time, so that neither many probes nor a store
 * that hangs pile up queries.
 */
export class StoreLook {
  readonly #scheduler: ObservedScheduler;
  readonly #limit: number;
  #latest: Look | undefined;

  /** @param limit How many due schedules are counted of each task. */
  constructor(scheduler: ObservedScheduler, limit: number) {
    this.#scheduler = scheduler;
    this.#limit = limit;
  }

  /** The latest answer, or what it failed with; rejects with {@linkcode LookTimeout} when it takes too long. */
  async within(timeoutMs: number): Promise<Backlog> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new LookTimeout(`the store did not answer within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      return await Promise.race([this.#look(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #look(): Promise<Backlog> {
    const now = performance.now();
    const latest = this.#latest;
    if (latest !== undefined) {
      const { answeredAt } = latest;
      const serves = answeredAt === undefined
        ? now - latest.askedAt < LOOK_PATIENCE_MS
        : now - answeredAt < LOOK_FRESH_MS;
      if (serves) return latest.answer;
    }
    const look: Look = { answer: this.#scheduler.backlog({ limit: this.#limit }), askedAt: now };
    this.#latest = look;
    const answered = () => void (look.answeredAt = performance.now());
    look.answer.then(answered, answered);
    return look.answer;
  }
}
