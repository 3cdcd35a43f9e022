/**
 * The rules K2, K4 and K5 by brute force: every minute (or second) of a stretch of time is looked at, in order, with a
 * note of the latest local time that the zone's clock has shown. Nothing here is shared with src/calendar.
 */

const MINUTE = 60_000;
const readers = new Map<string, Intl.DateTimeFormat>();

/** The wall clock of a zone, as milliseconds that UTC would be away. */
export function wall(instant: number, zone: string): number {
  let reader = readers.get(zone);
  if (reader === undefined) {
    reader = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      dateStyle: "short",
      timeStyle: "medium",
    });
    readers.set(zone, reader);
  }
  const text = reader.format(instant); // 29/03/2026, 03:00:00
  const [day, month, year] = [text.slice(0, 2), text.slice(3, 5), text.slice(6, 10)].map(Number);
  const [hour, minute, second] = [text.slice(12, 14), text.slice(15, 17), text.slice(18, 20)].map(Number);
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
}

/** The instants between `from` and `to` at which a zone's wall clock jumps, found by looking twice a day. */
export function clockChanges(zone: string, from: number, to: number): number[] {
  const found: number[] = [];
  const offset = (t: number) => wall(t, zone) - t;
  for (let t = from; t < to; t += 43_200_000) {
    let [low, high] = [t, t + 43_200_000];
    const before = offset(low);
    if (offset(high) === before) continue;
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    found.push(high);
  }
  return found;
}

const NAMES: Record<string, number> = Object.fromEntries([
  ..."jan feb mar apr may jun jul aug sep oct nov dec".split(" ").map((name, i) => [name, i + 1]),
  ..."sun mon tue wed thu fri sat".split(" ").map((name, i) => [name, i]),
]);

/** The values of one field, by crontab(5); `L` and `#` are left to {@linkcode matcher}. */
function values(text: string, low: number, high: number): Set<number> {
  const set = new Set<number>();
  for (const item of text.split(",")) {
    const [range, step] = item.split("/");
    const ends = range!.split("-").map((end) => NAMES[end.toLowerCase()] ?? Number(end));
    let [first, last] = range === "*" || range === "?" ? [low, high] : [ends[0]!, ends[1] ?? (step ? high : ends[0]!)];
    if (/-sun/i.test(item) && first > last) last = 7;
    for (let value = first; value <= last; value += Number(step ?? 1)) set.add(value);
  }
  return set;
}

/** Whether a wall clock time matches an expression. */
export function matcher(expression: string): (wall: number) => boolean {
  const fields = expression.split(" ");
  if (fields.length === 5) fields.unshift("0");
  const [second, minute, hour, dom, month, dow] = fields as [string, string, string, string, string, string];
  const [S, M, H, O] = [values(second, 0, 59), values(minute, 0, 59), values(hour, 0, 23), values(month, 1, 12)];
  const days = dom.split(",").map((item) => item === "L" ? "L" : values(item, 1, 31));
  const weekdays = dow.split(",").map((item) => /[L#]/.test(item) ? item : values(item, 0, 7));
  const both = [dom, dow].some((text) => text.includes("*") || text.includes("?"));
  const isDay = (date: Date) => {
    const [day, weekday] = [date.getUTCDate(), date.getUTCDay()];
    const tomorrow = new Date(date.getTime() + 86_400_000).getUTCDate();
    const week = new Date(date.getTime() + 7 * 86_400_000).getUTCMonth();
    const byDay = days.some((item) => item === "L" ? tomorrow === 1 : (item as Set<number>).has(day));
    const byWeekday = weekdays.some((item) => {
      if (typeof item !== "string") return item.has(weekday) || (weekday === 0 && item.has(7));
      if (Number(item[0]) % 7 !== weekday) return false;
      return item[1] === "L" ? week !== date.getUTCMonth() : Math.floor((day + 6) / 7) === Number(item[2]);
    });
    return both ? byDay && byWeekday : byDay || byWeekday;
  };
  const known = new Map<number, boolean>();
  return (at) => {
    const inDay = ((at % 86_400_000) + 86_400_000) % 86_400_000;
    if (!H.has(Math.floor(inDay / 3_600_000)) || !M.has(Math.floor(inDay / MINUTE) % 60)) return false;
    if (!S.has(Math.floor(inDay / 1_000) % 60)) return false;
    const day = at - inDay;
    if (!known.has(day)) known.set(day, O.has(new Date(day).getUTCMonth() + 1) && isDay(new Date(day)));
    return known.get(day)!;
  };
}

/** The wall clock at each step of a stretch of time; looked up a quarter of an hour at a time where nothing jumps. */
export function walk(zone: string, from: number, to: number, step: number): { instants: number[]; walls: number[] } {
  const [instants, walls]: [number[], number[]] = [[], []];
  for (let quarter = from; quarter < to; quarter += 900_000) {
    const [first, last] = [wall(quarter, zone), wall(quarter + 900_000 - 1_000, zone)];
    const isEven = last - first === 900_000 - 1_000;
    for (let t = quarter; t < Math.min(quarter + 900_000, to); t += step) {
      instants.push(t);
      walls.push(isEven ? first + (t - quarter) : wall(t, zone));
    }
  }
  return { instants, walls };
}

export interface Dst {
  gap?: "fire" | "skip";
  fold?: "first" | "both";
}

/** Every point of an expression among the steps of a walk, its first step excepted. */
export function points(
  { instants, walls }: ReturnType<typeof walk>,
  expression: string,
  { gap = "fire", fold = "first" }: Dst = {},
): number[] {
  const step = instants[1]! - instants[0]!;
  const matches = matcher(expression);
  const [minute, hour] = expression.split(" ").slice(-5);
  const followsElapsedTime = minute!.includes("*") || hour!.includes("*");
  const found: number[] = [];
  let reached = walls[0]!;
  for (let i = 1; i < instants.length; i++) {
    const now = walls[i]!;
    let fires = matches(now) && (followsElapsedTime || fold === "both" || now > reached);
    if (!followsElapsedTime && gap === "fire") {
      for (let skipped = reached + step; !fires && skipped < now; skipped += step) fires = matches(skipped);
    }
    reached = Math.max(reached, now);
    if (fires) found.push(instants[i]!);
  }
  return found;
}
