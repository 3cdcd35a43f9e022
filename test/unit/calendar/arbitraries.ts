import * as fc from "fast-check";

/** Items of one field: single values, ranges, steps, `start/step`. */
function items(low: number, high: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: low, max: high });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: Math.min(high, high - low + 1) });
  return fc.oneof(
    { weight: 4, arbitrary: value.map(String) },
    { weight: 2, arbitrary: range },
    { weight: 1, arbitrary: fc.tuple(range, step).map(([r, s]) => `${r}/${s}`) },
    { weight: 1, arbitrary: fc.tuple(value, step).map(([v, s]) => `${v}/${s}`) },
  );
}

function field(low: number, high: number, star: number, more: fc.Arbitrary<string>[] = []): fc.Arbitrary<string> {
  const list = fc.array(items(low, high), { minLength: 1, maxLength: 3 }).map((all) => all.join(","));
  const steps = [2, 3, 5, 7, 10, 15, 20, 30].filter((n) => n <= high - low).map((n) => `*/${n}`);
  return fc.oneof(
    { weight: star, arbitrary: fc.constant("*") },
    { weight: 3, arbitrary: list },
    { weight: 2, arbitrary: fc.constantFrom(...steps) },
    ...more.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

const minutes = field(0, 59, 2, [fc.constantFrom("0", "30", "0,30", "15,45")]);
/** Hours near midnight are the ones that clocks change in. */
const hours = field(0, 23, 3, [
  fc.constantFrom("0", "1", "2", "3", "23", "0-3", "1-3", "22-23"),
  fc.integer({ min: 0, max: 4 }).map(String),
]);
const daysOfMonth = field(1, 31, 12, [fc.constantFrom("L", "?", "L,15", "1,L")]);
const months = field(1, 12, 14, [fc.constantFrom("mar-nov", "JAN,jul", "oct")]);
const daysOfWeek = field(0, 7, 12, [
  fc.constantFrom("mon-fri", "sat-sun", "SUN", "fri-sun", "0,7", "5-7", "?"),
  fc.tuple(fc.integer({ min: 0, max: 7 }), fc.constantFrom("L", "#1", "#2", "#3", "#4", "#5")).map(([d, s]) =>
    `${d}${s}`
  ),
]);

/** Five-field expressions of every form that both the calendar and the oracle read; some name no date. */
export const expressions: fc.Arbitrary<string> = fc.tuple(minutes, hours, daysOfMonth, months, daysOfWeek)
  .map((fields) => fields.join(" "));

/** Six-field expressions. */
export const secondExpressions: fc.Arbitrary<string> = fc.tuple(field(0, 59, 1), expressions).map((all) =>
  all.join(" ")
);

/** What a clock change may do to fixed-time jobs, the default most often. */
export const policies: fc.Arbitrary<{ gap?: "fire" | "skip"; fold?: "first" | "both" }> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({ gap: fc.constantFrom("fire", "skip"), fold: fc.constantFrom("first", "both") }),
  },
);
