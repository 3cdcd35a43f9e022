import {
  IDEMPOTENCY_MS,
  invalidOption,
  type Json,
  MAX_IDEMPOTENT_CREATIONS,
  type Operation,
  type Principal,
  RESTING_PROGRESS,
  type ScheduleDefinition,
  type ScheduleDocument,
  SchedulerError,
  show,
} from "../contract/mod.ts";
import { changed } from "../machine/mod.ts";
import type { Creation } from "./create.ts";
import type { ClientHost, Done } from "./host.ts";
import { refused } from "./operations.ts";
import { canonicalText, digest } from "./revision.ts";
import { applyAll, findDocument } from "./scope.ts";
import { checkText } from "./text.ts";

/** What creations came to, in order: what was done now, or what the same request came to before. */
export type Made = { readonly done: readonly Done[] } | Before;

/** What a receipt tells. */
interface Before {
  readonly ids: readonly string[];
  /** Whether the only creation made nothing, since its name or key found a live schedule. */
  readonly found: boolean;
}

/**
 * Makes creations, all or nothing, unless the principal made the same under the same key before. What came of them is
 * kept as a receipt beside them, in the same commit: a document of a retired schedule, which no list tells, whose id the
 * principal and the key decide, and which goes after a day as every retired one does. So it holds on every instance.
 *
 * @throws {SchedulerError} `conflict` for another request under the same key, and whatever creation throws.
 */
export async function createOnce(
  host: ClientHost,
  principal: Principal,
  creations: readonly Creation[],
  key: unknown,
  request: unknown,
): Promise<Made> {
  if (key === undefined) return { done: await applyAll(host, creations) };
  const receipt = new Receipt(principal, checkText(key, "idempotencyKey"), request, creations);
  const before = await receipt.find(host);
  if (before !== undefined) return before;
  try {
    const done = await applyAll(host, receipt.operations());
    return { done: done.slice(0, creations.length) };
  } catch (error) {
    // The same request may have been faster, here or elsewhere: then that is what this one was refused for.
    const meanwhile = await receipt.find(host);
    if (meanwhile === undefined) throw error;
    return meanwhile;
  }
}

class Receipt {
  readonly #id: string;
  readonly #principal: Principal;
  readonly #key: string;
  readonly #print: string;
  readonly #creations: readonly Creation[];

  constructor(principal: Principal, key: string, request: unknown, creations: readonly Creation[]) {
    if (creations.length > MAX_IDEMPOTENT_CREATIONS) {
      throw invalidOption("idempotencyKey", key, `none: there are more than ${MAX_IDEMPOTENT_CREATIONS} schedules`);
    }
    this.#id = receiptId(JSON.stringify([principal.id, key]));
    this.#principal = principal;
    this.#key = key;
    this.#print = digest(canonicalText(request), 4);
    this.#creations = creations;
  }

  /** What the same request came to before. Errors: `conflict` for another request under the key. */
  async find(host: ClientHost): Promise<Before | undefined> {
    const document = (await findDocument(host, this.#id))?.document;
    if (document === undefined) return undefined;
    const { owner, state, input } = document.definition;
    const { key, print, found } = (state ?? {}) as { readonly [Name in "key" | "print" | "found"]?: Json };
    if (owner !== this.#principal.id || key !== this.#key || print !== this.#print) throw this.#inUse();
    return { ids: input as readonly string[], found: found === true };
  }

  /** The creations, and the receipt after them, when it is known which schedules they came to. */
  operations(): readonly Pick<Creation, "place" | "operation">[] {
    const made: Noted[] = [];
    const noting = this.#creations.map(({ place, operation }, i) => ({
      place,
      operation: noted(operation, (one) => void (made[i] = one)),
    }));
    const place = this.#creations.every((creation) => creation.place === "local") ? "local" : "stored";
    return [...noting, { place, operation: this.#write(made) }];
  }

  #write(made: readonly Noted[]): Operation<Done> {
    return {
      select: { id: this.#id },
      decide: (current, now) => {
        if (current !== undefined) return refused(current, this.#inUse());
        return changed(undefined, { document: this.#document(made, now), effects: [], answer: true });
      },
    };
  }

  #document(made: readonly Noted[], now: number): ScheduleDocument {
    const isFound = made.length === 1 && made[0]!.isFound;
    const definition: ScheduleDefinition = {
      task: this.#creations[0]?.definition.task ?? "none",
      input: made.map(({ id }) => id),
      state: { key: this.#key, print: this.#print, ...(isFound ? { found: true } : {}) },
      spec: { kind: "at", at: now },
      options: {},
      owner: this.#principal.id,
      authority: this.#principal,
      adaptive: false,
      retention: IDEMPOTENCY_MS,
      history: 0,
      createdAt: now,
    };
    return { id: this.#id, definition, progress: overSince(now, IDEMPOTENCY_MS, "receipt") };
  }

  #inUse(): SchedulerError {
    const text = `idempotencyKey: ${
      show(this.#key)
    } was used for another request; expected a key of this request's own`;
    return new SchedulerError("conflict", text, { details: { where: "idempotencyKey", given: this.#key } });
  }
}

/** What a creation came to. */
interface Noted {
  readonly id: string;
  readonly isFound: boolean;
}

function noted(operation: Operation<Done>, note: (one: Noted) => void): Operation<Done> {
  return {
    select: operation.select,
    decide(current, now) {
      const change = operation.decide(current, now);
      const { before, result } = change.value;
      const id = result.document?.id;
      if (id !== undefined) note({ id, isFound: before !== undefined });
      return change;
    },
  };
}

function overSince(now: number, retention: number, reason: string): ScheduleDocument["progress"] {
  return { ...RESTING_PROGRESS, wakeAt: now + retention, retired: { at: now, reason } };
}

/** A schedule that was made and is gone, as far as the request for it tells. */
export function goneDocument(id: string, definition: ScheduleDefinition): ScheduleDocument {
  return { id, definition, progress: { ...overSince(definition.createdAt, 0, "removed"), wakeAt: null } };
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** In the form of an id. Should two texts ever come to the same one, the second is refused, since the receipt has both. */
function receiptId(text: string): string {
  const digits = digest(text, 5).slice(0, 26);
  return Array.from(digits, (digit, i) => CROCKFORD[parseInt(digit, 36) % (i === 0 ? 8 : 32)]).join("");
}
