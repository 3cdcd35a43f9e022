import process from "node:process";
import { describe, expect, it } from "vitest";
import { readHistory, type ScheduleDocument } from "../../src/contract/mod.ts";
import { ownServer, sharedServer } from "../support/postgres.ts";
import { postgresCluster, quick, slow, type Started, work } from "./postgres_processes.ts";
import { type Child, type Message, until } from "./processes.ts";

const MINUTES = 60_000;

/** Points of a schedule whose runs succeeded, as its history tells. */
function succeeded({ progress }: ScheduleDocument): number[] {
  return readHistory(progress.history).filter(({ outcome }) => outcome === "succeeded").map(({ point }) => point);
}

function lost({ progress }: ScheduleDocument): number {
  return readHistory(progress.history).filter(({ outcome }) => outcome === "lost").length;
}

async function counts(children: readonly Child[]): Promise<string[]> {
  const all = await Promise.all(children.map(async (child) => {
    const before = child.messages.length;
    child.tell("counted");
    await child.said((message) => "counted" in message && child.messages.indexOf(message) >= before);
    return child.messages.filter((message) => "counted" in message).at(-1) as Message & { counted: string[] };
  }));
  return all.flatMap(({ counted }) => counted);
}

describe("postgres: several processes", () => {
  it(
    "M1 without kills each of 20,000 deadlines runs exactly once on one of four processes",
    { timeout: 3 * MINUTES },
    async () => {
      const cluster = await postgresCluster(await sharedServer());
      for (let block = 0; block < 4; block++) {
        const requests = Array.from({ length: 5_000 }, () => ({ task: quick, at: new Date(0) }));
        await cluster.scheduler.createMany(requests);
      }
      const children = await Promise.all([1, 2, 3, 4].map(() => cluster.child()));
      await until("every one-shot is over", async () => {
        const { rows } = await cluster.pool.query(`select 1 from "${cluster.schema}".documents where live limit 1`);
        return rows.length === 0;
      });
      const ran = await counts(children);
      expect([ran.length, new Set(ran).size]).toEqual([20_000, 20_000]);
      const documents = await cluster.documents();
      expect(documents.filter(({ progress }) => progress.runCount !== 1 || progress.retired?.reason !== "completed"))
        .toEqual([]);
      for (const child of children) {
        child.tell("close");
        await child.said((message) => "closed" in message);
        expect(child.errors()).toBe("");
      }
    },
  );

  it("M4 a process that is stopped past its lease and then goes on cannot settle", { timeout: MINUTES }, async () => {
    const cluster = await postgresCluster(await sharedServer());
    const [a, b] = [await cluster.child({ leaseMs: 1_000 }), await cluster.child({ leaseMs: 1_000 })];
    const { id } = await cluster.scheduler.at(slow, new Date(0), { ms: 1_500 });
    const first = await Promise.race([a, b].map((child) => child.said((m) => m.started === id).then(() => child)));
    const second = first === a ? b : a;
    // Not by the child's own kill, after which Deno takes it for ended and closes its standard input.
    process.kill(first.process.pid!, "SIGSTOP");
    await second.said((message) => message.started === id && message.attempt === 2);
    await second.said((message) => message.ended === id);
    await until("the second has settled", async () => !await cluster.scheduler.valid(id));
    const settled = await cluster.documents();
    process.kill(first.process.pid!, "SIGCONT");
    await first.said((message) => message.event === "leaseLost" && message.id === id);
    await first.said((message) => message.ended === id);
    first.tell("close");
    await first.said((message) => "closed" in message);
    expect(await cluster.documents()).toEqual(settled);
    expect(readHistory(settled[0]!.progress.history).map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, "lost"],
      [2, "succeeded"],
    ]);
  });

  it(
    "T8 instances whose clocks are ten minutes off neither start early nor take a live lease",
    { timeout: MINUTES },
    async () => {
      const cluster = await postgresCluster(await sharedServer());
      const offs = [10 * MINUTES, 0, -10 * MINUTES];
      const children = await Promise.all(offs.map((clockOffMs) => cluster.child({ clockOffMs, leaseMs: 5_000 })));
      const { id } = await cluster.scheduler.at(slow, new Date(0), { ms: 4_000 });
      const { rows: [{ now }] } = await cluster.pool.query(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
      );
      const from = Math.ceil(now);
      await cluster.scheduler.createMany(
        Array.from({ length: 300 }, (_, n) => ({ task: work, at: new Date(from + 500 + n * 10) })),
      );
      await until("all are over", async () => (await cluster.documents()).every(({ progress }) => progress.retired));
      const started = await cluster.started();
      expect(started.length).toBe(300);
      expect(started.filter(({ point, at }) => at < point)).toEqual([]);
      const long = (await cluster.documents()).find((document) => document.id === id)!;
      expect([long.progress.runCount, succeeded(long).length]).toEqual([1, 1]);
      expect(children.flatMap(({ messages }) => messages.filter(({ event }) => event !== undefined))).toEqual([]);
    },
  );
});

describe("postgres: kills and restarts", () => {
  const LEASE_MS = 3_000;

  it(
    "M3 B102 B105 four processes, one killed every 3 s, the server restarted: nothing is lost, nothing settles twice",
    {
      timeout: 4 * MINUTES,
    },
    async () => {
      const server = await ownServer();
      const cluster = await postgresCluster(server.url);
      const begin = Date.now() + 2_000;
      const oneShots = Array.from({ length: 2_000 }, (_, n) => ({
        task: work,
        at: new Date(begin + n * 15),
        maxLost: 50,
      }));
      const recurring = Array.from({ length: 200 }, (_, n) => ({
        task: work,
        name: `r${n}`,
        history: 100,
        maxFaults: 0,
        ...(n % 2 === 0 ? { every: "1s" } : { cron: "* * * * * *" }),
      }));
      await cluster.scheduler.createMany(oneShots);
      const series = await cluster.scheduler.createMany(recurring);
      const start = () => cluster.child({ leaseMs: LEASE_MS });
      const children = await Promise.all([1, 2, 3, 4].map(start));
      for (let round = 0; round < 10; round++) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin + round * 3_000 - Date.now())));
        if (round === 5) await server.restart();
        children.shift()!.process.kill("SIGKILL");
        children.push(await start());
      }
      await until(
        "every one-shot is over",
        async () =>
          (await cluster.documents()).every(({ definition, progress }) =>
            definition.spec.kind !== "at" || progress.retired
          ),
      );
      for (const one of series) {
        await one.pause();
      }
      await until(
        "nothing is running",
        async () => (await cluster.documents()).every(({ progress }) => progress.runs.length === 0),
      );
      const [documents, started] = [await cluster.documents(), await cluster.started()];
      expect(documents.length).toBe(2_200);
      for (const document of documents) {
        holds(document, started.filter(({ id }) => id === document.id));
      }
    },
  );

  function holds(document: ScheduleDocument, started: readonly Started[]): void {
    const { definition, progress } = document;
    const points = succeeded(document);
    const what = JSON.stringify({ definition, progress });
    expect(new Set(points).size, what).toBe(points.length);
    // Every run that was given out is accounted for, and none started that was not given out.
    expect(readHistory(progress.history).length, what).toBe(Math.min(progress.runCount, definition.history));
    expect(progress.faultCount, what).toBe(lost(document));
    expect(started.length, what).toBeLessThanOrEqual(progress.runCount);
    expect(points.length, what).toBe(progress.runCount - lost(document));
    if (definition.spec.kind !== "at") return;
    expect(progress.retired?.reason, what).toBe("completed");
    expect(started.length, what).toBeGreaterThanOrEqual(1);
  }
});
