import type pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { PgPoolLike } from "../../plugins/storage/postgres/mod.ts";
import type { Group, Storage } from "../../src/contract/mod.ts";
import { create, document, id, moved, operation, store } from "../../src/testing/storage/documents.ts";
import { freshSchema, sharedServer, testPool } from "../support/postgres.ts";
import { opened } from "./postgres_store.ts";

let url: string;
beforeAll(async () => void (url = await sharedServer()), 60_000);

const HOUR = 3_600_000;

/** A handle that loses the answer to the first statement with a text in it, and what happens before it can ask anew. */
async function losing(text: RegExp, meanwhile: (other: Storage) => Promise<unknown>) {
  const [schema, pool] = [freshSchema(), testPool(url)];
  onTestFinished(async () => void await pool.query(`drop schema if exists "${schema}" cascade`));
  const other = await opened({ pool, schema });
  const lossy = new LossyPool(pool);
  const storage = await opened({ pool: lossy, schema });
  return { storage, other, lose: () => lossy.lose(text, () => meanwhile(other)) };
}

class LossyPool implements PgPoolLike {
  readonly #pool: pg.Pool;
  #losing: RegExp | undefined;
  #meanwhile: () => Promise<unknown> = async () => {};
  #lost = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  lose(text: RegExp, meanwhile: () => Promise<unknown>): void {
    this.#losing = text;
    this.#meanwhile = meanwhile;
  }

  async connect() {
    if (this.#lost) await this.#meanwhile();
    this.#lost = false;
    const client = await this.#pool.connect();
    return {
      query: async (text: string, values?: (string | number | null)[]) => {
        const result = await client.query(text, values);
        if (this.#losing?.test(text) !== true) return result;
        this.#losing = undefined;
        this.#lost = true;
        throw new Error("Connection terminated unexpectedly");
      },
      on: (event: "error", listener: (error: Error) => void) => client.on(event, listener),
      removeListener: (event: "error", listener: (error: Error) => void) => client.removeListener(event, listener),
      release: (destroy?: boolean) => client.release(destroy),
    };
  }

  end = () => this.#pool.end();
  on = (event: "error" | "acquire", listener: never) => this.#pool.on(event, listener);
  removeListener = (event: "error" | "acquire", listener: never) => this.#pool.removeListener(event, listener);
}

/** Another handle's claim: the document that was stored is not as it was any more. */
function claimed(storage: Storage): Promise<unknown> {
  return storage.advance({ lanes: ["work"], limit: 10, now: 0 }, (current, now) => ({
    document: moved(current, { wakeAt: now + HOUR, fence: current.progress.fence + 1 }),
    value: current.id,
  }));
}

/** A creation that looks a name up, so goes through a transaction. */
function named(n: number): Group<string> {
  const made = document(n, 5_000, { definition: { name: "nightly" } });
  return [operation({ owner: "system", name: "nightly" }, (current) => ({
    value: current === undefined ? "created" : "there",
    ...(current === undefined ? { document: made } : {}),
  }))];
}

describe("postgres: writes that were not answered, and whose documents others have moved since", () => {
  for (
    const [what, text, groups, values] of [
      ["a creation", /insert into/, [create(document(1, 5_000))], [[id(1)]]],
      ["several creations", /\."insert"/, [1, 2].map((n) => create(document(n, 5_000))), [[id(1)], [id(2)]]],
      ["a creation by name", /^commit$/, [named(1)], [["created"]]],
    ] as const
  ) {
    it(`M6 ${what}: reported as stored, and stored once`, async () => {
      const { storage, other, lose } = await losing(text, claimed);
      lose();
      expect(await storage.apply(groups, 0)).toEqual(values.map((value) => ({ committed: true, values: value })));
      const stored = await other.find({ limit: 5 });
      expect(stored.map(({ progress }) => progress.fence)).toEqual(groups.map(() => 1));
    });
  }

  it("M6 a change together with a creation: decided once", async () => {
    const { storage, other, lose } = await losing(/^commit$/, claimed);
    await store(storage, [document(1, 9_000_000_000_000)]);
    lose();
    const change = operation({ id: id(1) }, (current) => ({
      document: moved(current!, { wakeAt: 5_000, runCount: current!.progress.runCount + 1 }),
      value: current!.progress.runCount,
    }));
    expect(await storage.apply<unknown>([[change, ...create(document(2, 9_000_000_000_000))]], 0)).toEqual([
      { committed: true, values: [0, id(2)] },
    ]);
    expect((await other.get(id(1)))!.progress).toMatchObject({ runCount: 1, fence: 1 });
  });
});
