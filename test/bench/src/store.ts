/**
 * What the SQLite store costs against bare SQL on the same tables in the same run: creating, firing and settling, and
 * finding what is due among few and among many. `STORED=100000` tries the last with fewer.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../../plugins/storage/sqlite/mod.ts";
import { encodeRow } from "../../../plugins/storage/sql/codec.ts";
import {
  RESTING_PROGRESS,
  type ScheduleDocument,
  type Storage,
  type StorageContext,
} from "../../../src/contract/mod.ts";
import { systemClock } from "../../../src/system.ts";

const SCHEDULES = 10_000;
const BATCH = 500;
const STORED = Number(process.env["STORED"] ?? 1_000_000);
const NOW = 1_800_000_000_000;
const LATER = NOW + 86_400_000;

const context: StorageContext = { clock: systemClock(), logger: console };

// Beside the source: a temporary directory may be in memory, where a flush costs nothing.
mkdirSync(`${import.meta.dirname}/../.data`, { recursive: true });
const directory = mkdtempSync(`${import.meta.dirname}/../.data/store-`);
try {
  await creating(directory);
  await firing(directory);
  await finding(directory);
} finally {
  rmSync(directory, { recursive: true });
}

async function creating(directory: string): Promise<void> {
  const bare = await bareTable(`${directory}/create_bare.db`);
  const bareCost = await cost(() => bare.insert(documents(SCHEDULES, NOW)));
  bare.close();
  const storage = await opened(`${directory}/create.db`);
  const storeCost = await cost(() =>
    Promise.all(
      documents(SCHEDULES, NOW).map((document) =>
        storage.apply([[{
          select: null,
          decide: () => ({ document, value: document.id }),
        }]], NOW)
      ),
    )
  );
  await storage.close();
  print("create", { ...compared(SCHEDULES, storeCost, bareCost), target: 0.3 });
}

async function firing(directory: string): Promise<void> {
  const bare = await bareTable(`${directory}/fire_bare.db`);
  bare.insert(documents(SCHEDULES, NOW - 1));
  const bareCost = await cost(() => bare.drain());
  bare.close();
  const storage = await opened(`${directory}/fire.db`);
  await create(storage, documents(SCHEDULES, NOW - 1));
  const storeCost = await cost(() => drain(storage));
  await storage.close();
  print("fire", { ...compared(SCHEDULES, storeCost, bareCost), target: 0.25 });
}

async function finding(directory: string): Promise<void> {
  const few = await findingAmong(`${directory}/few.db`, 1_000);
  const many = await findingAmong(`${directory}/many.db`, STORED);
  print("find", {
    few,
    many,
    ratio: many.drainMs / few.drainMs,
    cpuRatio: many.drainCpuMs / few.drainCpuMs,
    target: 1.3,
  });
}

/** The best of five, since what else the machine does only ever adds. */
async function findingAmong(file: string, stored: number) {
  const storage = await opened(file);
  for (let n = 0; n < stored; n += 5_000) {
    await create(storage, documents(Math.min(5_000, stored - n), LATER + n, n));
  }
  let [drainMs, drainCpuMs, wakeMs] = [Infinity, Infinity, Infinity];
  for (let round = 0; round < 5; round++) {
    await create(
      storage,
      documents(5_000, NOW - 1, 10_000_000 + 5_000 * round),
    );
    const drained = await cost(() => drain(storage));
    drainMs = Math.min(drainMs, drained.ms);
    drainCpuMs = Math.min(drainCpuMs, drained.cpuMs);
    wakeMs = Math.min(
      wakeMs,
      (await cost(() => storage.nextWake(["work", ""]))).ms,
    );
  }
  await storage.close();
  return { stored, drainMs, drainCpuMs, wakeMs };
}

/** As the engine does: claims a batch and settles it, one commit each. A settled one-shot is removed. */
async function drain(storage: Storage): Promise<void> {
  for (;;) {
    const { values } = await storage.advance({
      lanes: ["work", ""],
      limit: BATCH,
      now: NOW,
    }, (document) => ({
      document: claimed(document),
      value: document.id,
    }));
    if (values.length === 0) return;
    await storage.apply(
      values.map((
        id,
      ) => [{ select: { id }, decide: () => ({ document: null, value: 0 }) }]),
      NOW,
    );
  }
}

function claimed(document: ScheduleDocument): ScheduleDocument {
  const run = {
    fence: 1,
    point: NOW,
    attempt: 1,
    missed: 0,
    instance: "01JBENCHBENCHBENCHBENCHBEN",
    leaseUntil: LATER,
    claimedAt: NOW,
  };
  const progress = {
    ...document.progress,
    wakeAt: LATER,
    next: null,
    runs: [run],
    fence: 1,
    firings: 1,
    runCount: 1,
    lastRun: NOW,
  };
  return { ...document, progress };
}

function documents(
  count: number,
  wakeAt: number,
  from = 0,
): ScheduleDocument[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `01JBENCH${String(from + i).padStart(18, "0")}`,
    definition: {
      task: "work",
      input: { orderId: `${from + i}` },
      spec: { kind: "at", at: wakeAt },
      options: {},
      owner: "system",
      authority: { id: "system", admin: true },
      adaptive: true,
      retention: 60_000,
      history: 20,
      createdAt: NOW,
    },
    progress: {
      ...RESTING_PROGRESS,
      wakeAt: wakeAt - i,
      next: { point: wakeAt - i, at: wakeAt - i },
    },
  } satisfies ScheduleDocument));
}

async function opened(file: string): Promise<Storage> {
  const storage = sqlite(file);
  await storage.open(context);
  return storage;
}

async function create(
  storage: Storage,
  documents: ScheduleDocument[],
): Promise<void> {
  await storage.apply(
    documents.map((
      document,
    ) => [{ select: null, decide: () => ({ document, value: 0 }) }]),
    NOW,
  );
}

/** The store's own tables, used with the least code that does the same. */
async function bareTable(file: string) {
  await (await opened(file)).close();
  const database = new DatabaseSync(file);
  database.exec("pragma synchronous = full");
  const columns = Object.keys(encodeRow(documents(1, NOW)[0]!));
  const insert = database.prepare(
    `insert into ostinato_schedules (${columns.join()}) values (${columns.map(() => "?").join()})`,
  );
  const due = database.prepare(
    "select id, definition, progress from ostinato_schedules where lane = 'work' and wake_at <= ? order by wake_at limit ?",
  );
  const update = database.prepare(
    "update ostinato_schedules set wake_at = ?, progress = ? where id = ?",
  );
  const remove = database.prepare(
    "delete from ostinato_schedules where id = ?",
  );
  const commit = (work: () => void) => {
    database.exec("begin immediate");
    work();
    database.exec("commit");
  };
  return {
    insert(documents: ScheduleDocument[]) {
      for (let n = 0; n < documents.length; n += BATCH) {
        const rows = documents.slice(n, n + BATCH).map(encodeRow);
        commit(() => rows.forEach((row) => insert.run(...Object.values(row) as (string | number | null)[])));
      }
    },
    drain() {
      for (
        let ids: string[] | undefined;
        ids === undefined || ids.length > 0;
      ) {
        commit(() => {
          const rows = due.all(NOW, BATCH) as {
            id: string;
            progress: string;
          }[];
          for (const { id, progress } of rows) update.run(LATER, progress, id);
          ids = rows.map((row) => row.id);
        });
        commit(() => ids!.forEach((id) => remove.run(id)));
      }
    },
    close: () => database.close(),
  };
}

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

async function cost(work: () => unknown): Promise<Cost> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (user + system) / 1_000 };
}

/** Ratios of the bare cost to the store's; of processor time, too, which others on the machine disturb less. */
function compared(
  count: number,
  store: Cost,
  bare: Cost,
): Record<string, number> {
  const rate = ({ ms }: Cost) => Math.round(count / ms * 1_000);
  return {
    perSecond: rate(store),
    bare: rate(bare),
    ratio: bare.ms / store.ms,
    cpuRatio: bare.cpuMs / store.cpuMs,
  };
}

function print(what: string, figures: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: `store ${what}`, ...figures }));
}
