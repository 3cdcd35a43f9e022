/** Prints the points of every case, for a test that runs it under several zones of the machine. */
import { readFileSync } from "node:fs";
import { cronCadence, nextPoints } from "../../../src/calendar/mod.ts";

const cases: { expr: string; tz: string; from: string; next: string[] }[] = JSON.parse(
  readFileSync(new URL("./cases.json", import.meta.url), "utf8"),
);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
console.log(`zone ${zone === "Asia/Katmandu" ? "Asia/Kathmandu" : zone}`);
for (const { expr, tz, from, next } of cases) {
  const points = nextPoints(cronCadence(expr, { timezone: tz }), next.length, Date.parse(from));
  console.log(expr, tz, points.map((point) => new Date(point).toISOString()).join(" "));
}
