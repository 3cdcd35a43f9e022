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

/** What creations came to, in order: what was done now, or the ids of what the same request made before. */
export type Made = { readonly done: readonly Done[] } | { readonly ids: readonly string[] };

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
  if (before !== undefined) return { ids: before };
  try {
    const done = await applyAll(host, receipt.operations());
    return { done: done.slice(0, creations.length) };
  } catch (error) {
    // The same request may have been faster, here or elsewhere: then that is what this one was refused for.
    const meanwhile = await receipt.find(host);
    if (meanwhile === undefined) throw error;
    return { ids: meanwhile };
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

  /** The ids that the same request made before. Errors: `conflict` for another request under the key. */
  async find(host: ClientHost): Promise<readonly string[] | undefined> {
    const document = (await findDocument(host, this.#id))?.document;
    if (document === undefined) return undefined;
    const { owner, state, input } = document.definition;
    const { key, print } = (state ?? {}) as { readonly key?: Json; readonly print?: Json };
    if (owner === this.#principal.id && key === this.#key && print === this.#print) return input as readonly string[];
    throw this.#inUse();
  }

  /** The creations, and the receipt after them, when it is known which schedules they came to. */
  operations(): readonly Pick<Creation, "place" | "operation">[] {
    const ids: string[] = [];
    const noting = this.#creations.map(({ place, operation }, i) => ({
      place,
      operation: noted(operation, (id) => void (ids[i] = id)),
    }));
    const place = this.#creations.every((creation) => creation.place === "local") ? "local" : "stored";
    return [...noting, { place, operation: this.#write(ids) }];
  }

  #write(ids: readonly string[]): Operation<Done> {
    return {
      select: { id: this.#id },
      decide: (current, now) => {
        if (current !== undefined) return refused(current, this.#inUse());
        return changed(undefined, { document: this.#document(ids, now), effects: [], answer: true });
      },
    };
  }

  #document(ids: readonly string[], now: number): ScheduleDocument {
    const definition: ScheduleDefinition = {
      task: this.#creations[0]?.definition.task ?? "none",
      input: [...ids],
      state: { key: this.#key, print: this.#print },
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

function noted(operation: Operation<Done>, note: (id: string) => void): Operation<Done> {
  return {
    select: operation.select,
    decide(current, now) {
      const change = operation.decide(current, now);
      const id = change.value.result.document?.id;
      if (id !== undefined) note(id);
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
