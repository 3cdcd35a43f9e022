/**
 * Runs one benchmark by name: `npm run bench -- calendar`.
 */
const BENCHES: Readonly<Record<string, () => Promise<unknown>>> = {
  calendar: () => import("./calendar.ts"),
  creating: () => import("./creating.ts"),
  firing: () => import("./firing.ts"),
  http: () => import("./http.ts"),
  idle: () => import("./idle.ts"),
  kv: () => import("./kv.ts"),
  postgres: () => import("./postgres.ts"),
  recurring: () => import("./recurring.ts"),
  scale: () => import("./scale.ts"),
  store: () => import("./store.ts"),
};

const name = process.argv[2] ?? "";
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (bench === undefined) {
  console.error(`Which benchmark? One of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 2;
} else {
  await bench();
}
