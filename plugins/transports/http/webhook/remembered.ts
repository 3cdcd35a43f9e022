import type { WebhookAnswer } from "./answer.ts";
import { MAX_REMEMBERED } from "./limits.ts";

/**
 * Where a receiver keeps what it answered to deliveries, so that one that comes again, from the sender or from whoever
 * recorded it, is answered and not carried out. One that several instances share may be a table with the id as its key.
 */
export interface DeliveryStore {
  /** The answer to a delivery; `undefined` for one that was not carried out, or is forgotten. */
  get(id: string): WebhookAnswer | undefined | Promise<WebhookAnswer | undefined>;
  /** Keeps the answer to a delivery that was carried out; for the receiver's tolerance, at the least. */
  set(id: string, answer: WebhookAnswer): void | Promise<void>;
}

/** The latest deliveries, in this process's memory. */
export class RememberedDeliveries implements DeliveryStore {
  readonly #answers = new Map<string, WebhookAnswer>();

  get(id: string): WebhookAnswer | undefined {
    return this.#answers.get(id);
  }

  set(id: string, answer: WebhookAnswer): void {
    this.#answers.delete(id);
    this.#answers.set(id, answer);
    if (this.#answers.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest);
      return;
    }
  }
}
