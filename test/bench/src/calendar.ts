/**
 * The calendar beside croner and cron-parser, in one process: next dates, parsing, the longest single call, memory,
 * and how many of the cases in test/unit/calendar/cases.json each gets right.
 */
import { readFileSync } from "node:fs";
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";
import { cronCadence, everyCadence, nextPoints } from "../../../src/calendar/mod.ts";

const SECONDS = Number(process.env.SECONDS ?? 0.3);
const START = Date.UTC(2026, 0, 1);
const YEAR = 365.2425 * 86_400_000;

const EXPRESSIONS: readonly (readonly [expression: string, timezone: string])[] = [
  ["* * * * *", "UTC"],
  ["*/5 * * * *", "UTC"],
  ["0 * * * *", "America/New_York"],
  ["0 2 * * *", "Europe/Berlin"],
  ["0 9 * * 1-5", "America/New_York"],
  ["*/15 8-18 * * mon-fri", "Asia/Tokyo"],
  ["0 0 1 * *", "UTC"],
  ["0 0 31 * *", "UTC"],
  ["30 2 29 2 *", "UTC"],
  ["0 0 29 2 */7", "America/New_York"],
  ["*/10 * * * * *", "Europe/Berlin"],
  ["15 30 6 1,15 * *", "Australia/Lord_Howe"],
];

interface Contender {
  readonly name: string;
  /** Makes the function that answers the next date. */
  prepare(
    expression: string,
    timezone: string,
  ): (after: number) => number | undefined;
}

const ours: Contender = {
  name: "ostinato",
  prepare(expression, timezone) {
    const cadence = cronCadence(expression, { timezone });
    return (after) => cadence.next(after) ?? undefined;
  },
};
const croner: Contender = {
  name: "croner",
  prepare(expression, timezone) {
    const cron = new Cron(expression, {
      timezone,
      paused: true,
      domAndDow: expression.includes("29 2 */7"),
    });
    return (after) => cron.nextRun(new Date(after))?.getTime();
  },
};
const cronParser: Contender = {
  name: "cron-parser",
  prepare(expression, timezone) {
    const parsed = CronExpressionParser.parse(expression, {
      tz: timezone,
      currentDate: START,
    });
    return (after) => {
      parsed.reset(new Date(after));
      return parsed.next().getTime();
    };
  },
};
/** cron-parser going on from its own position, its fastest way. */
const cronParserIterating: Contender = {
  name: "cron-parser",
  prepare(expression, timezone) {
    const parsed = CronExpressionParser.parse(expression, {
      tz: timezone,
      currentDate: START,
    });
    let position = NaN;
    return (after) => {
      if (after !== position) parsed.reset(new Date(after));
      return position = parsed.next().getTime();
    };
  },
};

/** Calls a second. */
function rate(call: () => void): number {
  for (let i = 0; i < 50; i++) call();
  let [calls, batch, elapsed] = [0, 1, 0];
  const start = performance.now();
  while (elapsed < SECONDS * 1_000) {
    for (let i = 0; i < batch; i++) call();
    calls += batch;
    elapsed = performance.now() - start;
    if (elapsed < 10) batch *= 2;
  }
  return Math.round(calls / elapsed * 1_000);
}

/** Each date from the one before. */
function stepRate(
  contender: Contender,
  expression: string,
  timezone: string,
): number {
  const next = contender.prepare(expression, timezone);
  let at = START;
  return rate(() => {
    at = next(at) ?? START;
    if (at > START + 100 * YEAR) at = START;
  });
}

/** The date after a random instant of five years. */
function jumpRate(
  contender: Contender,
  expression: string,
  timezone: string,
): number {
  const next = contender.prepare(expression, timezone);
  return rate(() => next(START + Math.floor(Math.random() * 5 * YEAR)));
}

/** Expressions no two of which are equal, so that no cache of whole expressions helps. */
function distinctExpressions(): string[] {
  const list: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    for (let hour = 0; hour < 24; hour++) {
      for (const days of ["* * *", "* * 1-5", "1,15 * *", "* 1-6 sun"]) {
        list.push(`${minute} ${hour} ${days}`);
      }
    }
  }
  return list;
}

function parseRate(contender: Contender): number {
  const list = distinctExpressions();
  let i = 0;
  return rate(() => contender.prepare(list[i++ % list.length]!, "Europe/Berlin"));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function speeds(
  title: string,
  rateOf: (c: Contender, e: string, tz: string) => number,
  parser: Contender,
): void {
  const ratios: number[] = [];
  const rows = EXPRESSIONS.map(([expression, timezone]) => {
    const [a, b, c] = [ours, croner, parser].map((contender) => rateOf(contender, expression, timezone)) as [
      number,
      number,
      number,
    ];
    ratios.push(a / Math.max(b, c));
    return {
      expression,
      timezone,
      ostinato: a,
      croner: b,
      "cron-parser": c,
      "times the faster": +ratios.at(-1)!.toFixed(1),
    };
  });
  console.log(`\n${title}, calls per second`);
  console.table(rows);
  console.log(
    `median: ${median(ratios).toFixed(1)} times the faster of the two; worst: ${Math.min(...ratios).toFixed(1)}`,
  );
}

/** The longest of many first calls: all zones, cold, from random instants. */
function longestCall(): void {
  const zones = Intl.supportedValuesOf("timeZone");
  const hard = [
    "0 2 * * *",
    "*/5 * * * *",
    "0 0 29 2 */7",
    "30 2 29 2 *",
    "0 0 ? 2 5#5",
    "59 59 23 31 12 *",
  ];
  const times: number[] = [];
  for (const timezone of zones) {
    for (const expression of hard) {
      const start = performance.now();
      cronCadence(expression, { timezone }).next(
        Math.floor(Math.random() * 130 * YEAR),
      );
      times.push(performance.now() - start);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(2);
  console.log(
    `\n${times.length} first calls, parsing and a zone not seen before included: median ${at(0.5)} ms, p99 ${
      at(0.99)
    } ms, longest ${at(1)} ms`,
  );
}

function counting(): void {
  const every = {
    "* * * * * *": cronCadence("* * * * * *", { timezone: "Europe/London" }),
    "every 1 s": everyCadence(0, 1_000),
  };
  for (const [name, cadence] of Object.entries(every)) {
    const start = performance.now();
    const points = cadence.count(START - 10 * YEAR, START);
    console.log(
      `counting ${points} points of ten years, ${name}: ${(performance.now() - start).toFixed(2)} ms`,
    );
  }
}

/** Before anything else has grown the heap. */
function memory(): void {
  const settle = () => {
    globalThis.gc?.();
    return process.memoryUsage();
  };
  cronCadence("0 2 * * *", { timezone: "Europe/Paris" }).next(START);
  const [before, zones] = [settle(), Intl.supportedValuesOf("timeZone")];
  for (const timezone of zones) {
    nextPoints(cronCadence("0 2 * * *", { timezone }), 400, START);
  }
  const after = settle();
  const mib = (key: "heapUsed" | "rss") => ((after[key] - before[key]) / 2 ** 20).toFixed(1);
  console.log(
    `${zones.length} zones, 400 days each: heap +${mib("heapUsed")} MiB, resident +${mib("rss")} MiB`,
  );
}

function correctness(): void {
  const cases: { expr: string; tz: string; from: string; next: string[] }[] = JSON.parse(
    readFileSync(
      new URL("../../unit/calendar/cases.json", import.meta.url),
      "utf8",
    ),
  );
  for (const contender of [ours, croner, cronParser]) {
    const right = cases.filter(({ expr, tz, from, next }) => {
      try {
        const find = contender.prepare(expr, tz);
        let at: number | undefined = Date.parse(from);
        return next.every((expected) => (at = find(at!)) === Date.parse(expected));
      } catch {
        return false;
      }
    });
    console.log(
      `${contender.name}: ${right.length} of ${cases.length} cases right`,
    );
  }
}

memory();
longestCall();
counting();
correctness();
speeds("next from the one before", stepRate, cronParserIterating);
speeds("next from a random instant", jumpRate, cronParser);
console.log("\nparsing expressions no two of which are equal, per second");
console.table(
  Object.fromEntries(
    [ours, croner, cronParser].map((
      contender,
    ) => [contender.name, parseRate(contender)]),
  ),
);
