import type { Backlog, ObservedEvent } from "../../../src/contract/mod.ts";

/** What health, metrics and event streams need of a scheduler; its own type fits. */
export interface Observed {
  /** Is told of every event. */
  observe(observer: (observed: ObservedEvent) => unknown): () => void;
  /** Is told when the scheduler is closed. */
  on(name: "closed", listener: () => void): () => void;
  /** What is due and waits. */
  backlog(options: { readonly limit: number }): Promise<Backlog>;
}
