/** Worker processes, from the parent's side. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Name } from "./contenders.ts";

export interface Report {
  readonly seen: readonly number[];
  readonly lateMs: readonly number[];
}

/** A worker process that is set up and does not work yet. */
export class WorkerProcess {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async spawn(
    name: Name,
    url: string,
    each: boolean,
  ): Promise<WorkerProcess> {
    const worker = new WorkerProcess(
      fork(fileURLToPath(new URL("child.ts", import.meta.url)), [
        name,
        url,
        each ? "each" : "",
      ]),
    );
    await worker.#said("ready");
    return worker;
  }

  async start(): Promise<void> {
    const began = this.#said("began");
    this.#child.send("start");
    await began;
  }

  /** Resolves when the handler has been called for an id, with the time of that. */
  async started(id: number): Promise<number> {
    for (;;) {
      const { started, at } = await this.#said<{ started: number; at: number }>(
        "started",
      );
      if (started === id) return at;
    }
  }

  report(): Promise<Report> {
    const report = this.#said<Report>("seen");
    this.#child.send("report");
    return report;
  }

  async end(): Promise<void> {
    const exit = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.send("end");
    await exit;
  }

  #said<T>(key: string): Promise<T> {
    return new Promise((resolve) => {
      const listen = (message: object) => {
        if (!(key in message)) return;
        this.#child.off("message", listen);
        resolve(message as T);
      };
      this.#child.on("message", listen);
    });
  }
}
