/** What the benchmarks share: figures, files, a quiet logger. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Logger } from "../../../mod.ts";

/** A logger that says nothing: what is measured is not the console. */
export const silent: Logger = { error() {}, warn() {}, info() {}, debug() {} };

/** Does work in a fresh directory beside the source: a temporary one may be in memory, where a flush costs nothing. */
export async function inDirectory<T>(
  work: (directory: string) => Promise<T>,
): Promise<T> {
  mkdirSync(`${import.meta.dirname}/../.data`, { recursive: true });
  const directory = mkdtempSync(`${import.meta.dirname}/../.data/run-`);
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Prints one JSON line. */
export function print(
  bench: string,
  figures: Readonly<Record<string, unknown>>,
): void {
  const rounded = Object.entries(figures).map((
    [key, value],
  ) => [key, typeof value === "number" ? round(value) : value]);
  console.log(JSON.stringify({ bench, ...Object.fromEntries(rounded) }));
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 1_000) / 1_000;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** A percentile by the nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[
    Math.min(
      sorted.length - 1,
      Math.max(0, Math.ceil(percent / 100 * sorted.length) - 1),
    )
  ] ?? NaN;
}

/** The process's memory in MiB. */
export function residentMiB(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}

/** Cores that this process used since a reading of `process.cpuUsage()` so many milliseconds ago. */
export function coresSince(before: NodeJS.CpuUsage, elapsedMs: number): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / elapsedMs;
}

/** Cores that other processes use just now, over a second; noise, told with the figures. */
export async function otherCores(): Promise<number> {
  const read = () =>
    readFileSync("/proc/stat", "utf8").split("\n")[0]!.trim().split(/\s+/)
      .slice(1).map(Number);
  const [before, own, at] = [read(), process.cpuUsage(), performance.now()];
  await sleep(1_000);
  const after = read();
  const busy = [0, 1, 2, 5, 6].reduce((sum, i) => sum + after[i]! - before[i]!, 0) / 100;
  return Math.max(0, busy - coresSince(own, performance.now() - at));
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
