import { MAX_ZONE_PARTS, MAX_ZONES } from "../limits.ts";
import { DAY_MS, daysFromCivil, isLeapYear, weekday } from "./date.ts";
import { offsetReader } from "./offset.ts";

/**
 * A stretch of time in which a zone's clocks keep one offset. It ends at the next change, or where the part of the
 * year ends that the zone was read for.
 */
export interface Segment {
  /** First instant, in milliseconds since the epoch. */
  readonly start: number;
  /** First instant after it. */
  readonly end: number;
  /** Local time minus UTC, in milliseconds. */
  readonly offset: number;
  /**
   * The local time from which on this segment shows times that no clock of the zone has shown or passed before.
   * Earlier than `start + offset`: the change skipped the times between (a gap). Later: those between come again (a fold).
   */
  readonly fresh: number;
}

/** The history of one zone's clocks, from Intl, read in parts as it is asked for. */
export interface Zone {
  /** The segment that holds an instant. */
  at(instant: number): Segment;
}

/** A UTC year is read in eight parts, so that no call has to read more than it needs; the last is shorter. */
const PARTS = 8;
const PART_MS = 46 * DAY_MS;
/** No zone changed its clocks before this year: the first changes in the IANA database are of the 1830s. */
const FIRST_YEAR = 1800;
/** From here on zones follow yearly rules only (Morocco's and Gaza's tables of Ramadan end in 2087 and 2086). */
const RULES_YEAR = 2110;
/** Calendars repeat after 28 years as long as no century year without a leap day lies between. */
const RULES_CYCLE = 28;
/**
 * How often the offset is looked at: more often than any zone ever changed its clocks twice. The closest changes are
 * four days apart in Freetown in 1939; since 1950, seven days less an hour in Brazil in 2000 and in Gaza's table.
 */
const EARLY_SAMPLE_MS = 3 * DAY_MS;
const EARLY_YEAR = 1950;
const SAMPLE_MS = 5 * DAY_MS;
const RULES_SAMPLE_MS = 30 * DAY_MS;
/** No two offsets differ by more than this, so changes older than this cannot make a local time come again. */
const MAX_OFFSET_SWING_MS = 2 * DAY_MS;

const zones = new Map<string, Zone>();

/** The zone of a name that `checkTimezone` answered. Zones are kept, so that their tables are built once. */
export function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = name === "UTC" ? UTC : makeZone(name);
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(name, zone);
  }
  return zone;
}

const UTC_SEGMENT: Segment = { start: -Infinity, end: Infinity, offset: 0, fresh: -Infinity };
const UTC: Zone = { at: () => UTC_SEGMENT };

function makeZone(name: string): Zone {
  const parts = new Map<number, readonly Segment[]>();
  let last: Segment = { start: 0, end: 0, offset: 0, fresh: 0 };

  function segmentsOf(year: number, part: number): readonly Segment[] {
    if (year >= RULES_YEAR + RULES_CYCLE) {
      const model = modelYear(year);
      return shifted(segmentsOf(model, part), yearStart(year) - yearStart(model));
    }
    const key = year * PARTS + part;
    let segments = parts.get(key);
    if (segments === undefined) {
      segments = readPart(name, year, part);
      if (parts.size >= MAX_ZONE_PARTS) parts.clear();
      parts.set(key, segments);
    }
    return segments;
  }

  return {
    at(instant) {
      if (instant >= last.start && instant < last.end) return last;
      const year = yearOf(instant);
      const segments = year < FIRST_YEAR
        ? segmentsOf(FIRST_YEAR, -1)
        : segmentsOf(year, Math.floor((instant - yearStart(year)) / PART_MS));
      let i = segments.length - 1;
      while (segments[i]!.start > instant) i--;
      return last = segments[i]!;
    },
  };
}

function yearStart(year: number): number {
  return daysFromCivil(year, 1, 1) * DAY_MS;
}

function yearOf(instant: number): number {
  const year = Math.floor(instant / (365.2425 * DAY_MS)) + 1970;
  if (instant < yearStart(year)) return year - 1;
  return instant < yearStart(year + 1) ? year : year + 1;
}

/** The year of the first cycle of rules that has the same calendar, so the same changes on the same dates. */
function modelYear(year: number): number {
  const same = (model: number) =>
    isLeapYear(model) === isLeapYear(year) &&
    weekday(daysFromCivil(model, 1, 1)) === weekday(daysFromCivil(year, 1, 1));
  let model = RULES_YEAR;
  while (!same(model)) model++;
  return model;
}

function shifted(segments: readonly Segment[], by: number): readonly Segment[] {
  return segments.map((s) => ({ start: s.start + by, end: s.end + by, offset: s.offset, fresh: s.fresh + by }));
}

/** Reads the segments of a part of a UTC year, and what led up to it, from Intl. */
function readPart(name: string, year: number, part: number): readonly Segment[] {
  const offsetAt = offsetReader(name);
  const start = yearStart(year) + Math.max(part, 0) * PART_MS;
  if (part < 0) return [{ start: -Infinity, end: start, offset: offsetAt(start - DAY_MS), fresh: -Infinity }];
  const end = Math.min(start + PART_MS, yearStart(year + 1));
  const from = start - MAX_OFFSET_SWING_MS;
  const step = year < EARLY_YEAR ? EARLY_SAMPLE_MS : year < RULES_YEAR ? SAMPLE_MS : RULES_SAMPLE_MS;
  const segments: Segment[] = [];
  let open = { start: from, offset: offsetAt(from) };
  let shown = -Infinity;
  const close = (until: number) => {
    const first = Math.max(open.start, start);
    const fresh = open.start < start ? Math.max(shown, first + open.offset) : shown;
    if (until > start) segments.push({ start: first, end: until, offset: open.offset, fresh });
    shown = Math.max(shown, until + open.offset);
  };
  for (const change of changes(offsetAt, from, end, step)) {
    close(change);
    open = { start: change, offset: offsetAt(change) };
  }
  close(end);
  return segments;
}

/** The instants in `(from, end)` at which the offset changes, exact to the second. */
function* changes(offsetAt: (t: number) => number, from: number, end: number, step: number): Generator<number> {
  let before = offsetAt(from);
  for (let low = from; low < end; low += step) {
    const high = Math.min(low + step, end - 1_000);
    const after = offsetAt(high);
    for (let known = low; before !== after; before = offsetAt(known)) {
      known = firstChange(offsetAt, known, high, before);
      yield known;
    }
  }
}

/** The instant in `(low, high]` from which on the offset is no longer `before`. */
function firstChange(offsetAt: (t: number) => number, low: number, high: number, before: number): number {
  // Almost every change is at a quarter of an hour of UTC: find that one first, then see whether it is exact.
  for (const grid of [900_000, 1_000]) {
    let [same, changed] = [Math.floor(low / grid), Math.ceil(high / grid)];
    while (changed - same > 1) {
      const middle = Math.floor((same + changed) / 2);
      if (offsetAt(middle * grid) === before) same = middle;
      else changed = middle;
    }
    [low, high] = [same * grid, changed * grid];
    if (offsetAt(high - 1_000) === before) break;
  }
  return high;
}
