import type { Storage } from "../../contract/mod.ts";
import type { Cluster } from "./cluster.ts";
import { type FaultKind, START } from "./scenario.ts";
import { Users } from "./users.ts";

/** How a cluster's life is played. */
export interface Script {
  readonly instances: number;
  readonly schedules: number;
  readonly hours: number;
  readonly faults: ReadonlySet<FaultKind>;
  readonly handle: () => Storage;
}

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** Instances come up one after another within so long. */
const COME_UP_MS = 2_000;
/** Once nothing goes wrong any more: what is owed by then has started, and every lease that a fault left has run out. */
const RECOVERY_MS = 15 * MINUTE;
/** Longer than the longest run. */
const ROUND_MS = 6 * MINUTE;
/** Rounds of stopping everything: handlers in progress may make schedules that make schedules. */
const ROUNDS = 4;
/** Closing: a second of drain, the grace, and replies. */
const CLOSING_MS = MINUTE;

/** Plays the life of a cluster: users and faults, then recovery, then the end of everything. */
export async function play(cluster: Cluster, script: Script): Promise<void> {
  const { world } = cluster;
  const users = new Users({
    random: cluster.random.fork("users"),
    hours: script.hours,
    trace: cluster.trace,
    now: () => world.now,
    instance: (random) => cluster.instance(random),
  });
  const end = START + Math.round(script.hours * HOUR);
  for (let index = 0; index < script.instances; index++) {
    world.post(START + cluster.random.fork(`up ${index}`).int(0, COME_UP_MS), () => cluster.start(index));
  }
  planUsers(cluster, users, script, end);
  planFaults(cluster, script, end);
  await world.runUntil(end);
  cluster.heal();
  await world.runUntil(end + RECOVERY_MS);
  for (let round = 0; round < ROUNDS; round++) {
    await stopAll(cluster, users);
    await world.runUntil(world.now + ROUND_MS);
  }
  await lookAtWhatIsLeft(cluster, script);
}

function planUsers(cluster: Cluster, users: Users, { schedules, hours }: Script, end: number): void {
  const { world } = cluster;
  const span = end - START;
  for (let index = 0; index < schedules; index++) {
    // Most of them early, so that they have a life.
    const at = START + COME_UP_MS + Math.round(span / 2 * cluster.random.fork(`create at ${index}`).next() ** 2);
    world.post(at, () => users.create(index));
  }
  const actions = Math.ceil(schedules * Math.min(4, 1 + hours));
  for (let index = 0; index < actions; index++) {
    world.post(START + Math.round(span * cluster.random.fork(`act at ${index}`).next()), () => users.act(index));
  }
}

/** Things that befall one instance, each at its own times: faults, and deployments, which are none. */
function planFaults(cluster: Cluster, { instances, faults }: Script, end: number): void {
  const plan = (
    kind: FaultKind | "restarts",
    perHour: number,
    befall: (index: number, draw: (low: number, high: number) => number, sign: number) => void,
  ) => {
    if (kind !== "restarts" && !faults.has(kind)) return;
    for (let index = 0; index < instances; index++) {
      const random = cluster.random.fork(`${kind} ${index}`);
      const rate = perHour * random.scale(1, 9) / 3;
      const gap = () => Math.round(-Math.log(1 - random.next()) * HOUR / rate);
      for (let at = START + gap(); at < end; at += gap()) {
        const [size, sign] = [random.next(), random.chance(0.5) ? 1 : -1];
        const draw = (low: number, high: number) => Math.round(low * (high / low) ** size);
        cluster.world.post(at, () => befall(index, draw, sign));
      }
    }
  };
  plan("restarts", 0.4, (index, draw) => cluster.restart(index, draw(100, 30_000)));
  plan("stalls", 1, (index, draw) => cluster.stall(index, draw(50, 90_000)));
  plan("kills", 0.7, (index, draw) => cluster.kill(index, draw(500, 300_000)));
  plan("partitions", 0.7, (index, draw) => cluster.cut(index, draw(500, 120_000)));
  plan("jumps", 0.7, (index, draw, sign) => cluster.jump(index, sign * draw(500, 2 * HOUR)));
}

/** A user stops whatever lives. */
async function stopAll(cluster: Cluster, users: Users): Promise<void> {
  const instance = cluster.instances()[0]!;
  const live: string[] = [];
  const listed = instance.scheduler.list().page().then(({ schedules }) => live.push(...schedules.map(({ id }) => id)));
  await cluster.world.runUntil(cluster.world.now + MINUTE);
  await listed;
  for (const id of live) {
    users.make(instance, {
      what: "stop",
      args: { id, abortRunning: true },
      make: () => instance.scheduler.stop(id, { abortRunning: true }),
    });
  }
}

/** What is stored when all was stopped and every record's time is over, and what is left of closed instances. */
async function lookAtWhatIsLeft(cluster: Cluster, { handle }: Script): Promise<void> {
  const { world, trace } = cluster;
  const store = handle();
  const logger = { error() {}, warn() {}, info() {}, debug() {} };
  await store.open({
    logger,
    clock: {
      now: () => world.now,
      monotonic: () => world.now,
      setTimer: () => () => {},
      defer: (callback) => callback(),
    },
  });
  const documents = (await store.find({ limit: 1_000, retired: true })).map(({ id }) => id);
  const lanes = (await store.backlog(Number.MAX_SAFE_INTEGER, 1)).map(({ task }) => task);
  await store.close();
  cluster.close();
  await world.runUntil(world.now + CLOSING_MS);
  trace.push({ type: "end", at: world.now, documents, lanes, timers: cluster.leftTimers });
}
