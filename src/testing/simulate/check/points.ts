import type { StoredSpec } from "../../../contract/mod.ts";

/** The points of a cadence, worked out for the checker alone: nothing here knows the scheduler's calendar. */
export interface Points {
  /** The first point after an instant; `undefined` when none is within reach. */
  next(after: number): number | undefined;
  /** The points in `(after, upTo]`, oldest first. */
  between(after: number, upTo: number): readonly number[];
  /** Milliseconds from a point to the next one, bounds or none. */
  gapAfter(point: number): number;
}

const DAY = 86_400_000;

/** How far ahead a point is looked for: expressions of the simulation come round every month. */
const REACH_DAYS = 70;

/** Hours east of UTC of the zones that a simulation uses; none of them changes its clocks. */
const OFFSETS: Readonly<Record<string, number>> = { UTC: 0, "Asia/Kolkata": 5.5, "Asia/Kathmandu": 5.75 };

/** The points of a recurring spec within its bounds; `undefined` for a one-shot. */
export function pointsOf(spec: StoredSpec): Points | undefined {
  if (spec.kind === "at") return undefined;
  const next = spec.kind === "every" ? nextOfEvery(spec.anchor, spec.every) : nextOfCron(spec.cron, spec.timezone);
  return bounded(next, spec.startAt ?? -Infinity, spec.endAt ?? Infinity);
}

type Next = (after: number) => number | undefined;

function bounded(next: Next, from: number, to: number): Points {
  const within: Next = (after) => {
    const point = next(Math.max(after, from - 1));
    return point === undefined || point > to ? undefined : point;
  };
  return {
    next: within,
    between(after, upTo) {
      const points: number[] = [];
      for (let point = within(after); point !== undefined && point <= upTo; point = within(point)) points.push(point);
      return points;
    },
    gapAfter: (point) => (next(point) ?? Infinity) - point,
  };
}

function nextOfEvery(anchor: number, every: number): Next {
  return (after) => anchor + (Math.floor((after - anchor) / every) + 1) * every;
}

function nextOfCron(expression: string, timezone: string): Next {
  const offset = OFFSETS[timezone];
  if (offset === undefined) throw new Error(`the checker does not know the zone ${timezone}`);
  const shift = offset * 3_600_000;
  const { times, matches } = parse(expression);
  return (after) => {
    const local = after + shift;
    const first = Math.floor(local / DAY) * DAY;
    for (let day = first; day < first + REACH_DAYS * DAY; day += DAY) {
      if (!matches(new Date(day))) continue;
      const time = times.find((one) => day + one > local);
      if (time !== undefined) return day + time - shift;
    }
    return undefined;
  };
}

/** The times of a day that an expression names, and the days on which it does. */
function parse(expression: string): { readonly times: readonly number[]; readonly matches: (day: Date) => boolean } {
  const fields = expression.split(" ");
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = fields.length === 6 ? fields : ["0", ...fields];
  const [seconds, minutes, hours] = [values(second!, 0, 59), values(minute!, 0, 59), values(hour!, 0, 23)];
  const times = hours.flatMap((h) => minutes.flatMap((m) => seconds.map((s) => ((h * 60 + m) * 60 + s) * 1_000)));
  const [days, months, weekdays] = [values(dayOfMonth!, 1, 31), values(month!, 1, 12), values(dayOfWeek!, 0, 6)];
  const both = dayOfMonth!.includes("*") || dayOfWeek!.includes("*");
  const matches = (day: Date) => {
    const [inMonth, inWeek] = [days.includes(day.getUTCDate()), weekdays.includes(day.getUTCDay())];
    return months.includes(day.getUTCMonth() + 1) && (both ? inMonth && inWeek : inMonth || inWeek);
  };
  return { times, matches };
}

function values(field: string, low: number, high: number): readonly number[] {
  const found = new Set<number>();
  for (const item of field.split(",")) {
    const [range, step = "1"] = item.split("/");
    const [from, to] = range === "*" ? [low, high] : range!.split("-").map(Number) as [number, number | undefined];
    const last = to ?? (item.includes("/") ? high : from);
    for (let value = from; value <= last; value += Number(step)) found.add(value);
  }
  return [...found].sort((a, b) => a - b);
}
