import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Load, Loaded, Streams } from "./load.ts";

/** The load generator's process. */
export class Generator {
  readonly #child: ChildProcess = fork(`${import.meta.dirname}/load.ts`);

  async ready(): Promise<void> {
    await once(this.#child, "message");
  }

  async load(load: Load): Promise<Loaded> {
    this.#child.send({ load });
    const [loaded] = await once(this.#child, "message") as [Loaded];
    const { "2xx": done, ...others } = loaded.statuses;
    if (done === 0) throw new Error(`no request succeeded: ${JSON.stringify(others)}`);
    return loaded;
  }

  async open(streams: Streams): Promise<void> {
    this.#child.send({ open: streams });
    await once(this.#child, "message");
  }

  async leave(): Promise<void> {
    this.#child.send({ leave: true });
    await once(this.#child, "message");
  }

  end(): void {
    this.#child.disconnect();
  }
}
