/**
 * Draws a recorded scene as a time line.
 *
 * @module
 */
import type { Bar, Row, Scene } from "./scene.ts";

const WIDTH = 760;
const LEFT = 150;
const RIGHT = 20;
const HEAD = 58;
const LANE = 14;
const PAD = 20;

/** Legible on light and on dark: whoever shows it says which, by the reader's preference. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-size: 13px; font-weight: 600 }
  .mark, .legend { font-size: 11px; fill: #777 }
  .note { font-size: 11px; fill: #b3261e }
  .line { stroke: #bbb }
  .point { fill: none; stroke: #888; stroke-width: 1.5 }
  .dropped { stroke: #b3261e; stroke-width: 1.8 }
  .down { fill: #8882 }
  .succeeded { fill: #2e7d4f }
  .faulted { fill: #c62828 }
  .replaced { fill: #b98a1f }
  .lost { fill: none; stroke: #c62828; stroke-width: 1.5; stroke-dasharray: 3 2 }
  .attempt { font-size: 10px; fill: #fff }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .mark, .legend { fill: #999 } .note { fill: #ff8a80 } .line { stroke: #555 }
    .point { stroke: #999 } .dropped { stroke: #ff8a80 } .succeeded { fill: #58b585 } .faulted { fill: #ef6c6c }
    .lost { stroke: #ef6c6c } .attempt { fill: #000 }
  }`;

interface Legend {
  readonly text: string;
  readonly draw: (x: number, y: number) => string;
}

/** The picture, as text. */
export function draw(scene: Scene): string {
  const { title, lengthMs, markMs, down, rows } = scene;
  const x = (ms: number) => round(LEFT + ms / lengthMs * (WIDTH - LEFT - RIGHT));
  const body: string[] = [];
  let top = HEAD;
  for (const row of rows) {
    const lanes = lanesOf(row.bars);
    const height = Math.max(1, ...lanes.map((lane) => lane + 1)) * LANE;
    body.push(drawRow(row, lanes, { top, height, x }));
    top += height + PAD + 10;
  }
  const legend = legendOf(scene);
  const height = top + 20;
  const marks: string[] = [];
  for (let at = 0; at <= lengthMs; at += markMs) {
    marks.push(`<text class="mark" x="${x(at)}" y="${HEAD - 14}" text-anchor="middle">${clock(at, markMs)}</text>`);
  }
  const band = down === undefined ? [] : [
    `<rect class="down" x="${x(down[0])}" y="${HEAD - 8}" width="${round(x(down[1]) - x(down[0]))}" height="${
      top - HEAD
    }"/>`,
    `<text class="mark" x="${x((down[0] + down[1]) / 2)}" y="${top - 12}" text-anchor="middle">nothing runs</text>`,
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="10" y="20">${escape(title)}</text>`,
    ...marks,
    ...band,
    ...body,
    ...drawLegend(legend, height - 12),
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  readonly top: number;
  readonly height: number;
  readonly x: (ms: number) => number;
}

function drawRow({ label, points, bars, dropped, notes }: Row, lanes: readonly number[], place: Place): string {
  const { top, height, x } = place;
  const base = top + height + 5;
  return [
    `<text x="10" y="${top + 11}">${escape(label)}</text>`,
    `<line class="line" x1="${LEFT}" y1="${base}" x2="${WIDTH - RIGHT}" y2="${base}"/>`,
    ...bars.map((bar, i) => drawBar(bar, x, top + lanes[i]! * LANE)),
    ...points.map((at) => `<circle class="point" cx="${x(at)}" cy="${base}" r="3"/>`),
    ...dropped.map((at) => cross(x(at), base)),
    ...notes.filter(({ text }) => text !== "completed").map(({ at, text }) =>
      `<text class="note" x="${round(x(at) + 4)}" y="${base + 14}">${escape(text)}</text>`
    ),
  ].join("\n");
}

function drawBar({ from, to, outcome, attempt }: Bar, x: (ms: number) => number, top: number): string {
  const width = Math.max(3, round(x(to) - x(from)));
  const rect = `<rect class="${outcome}" x="${x(from)}" y="${top}" width="${width}" height="${LANE - 3}" rx="2"/>`;
  if (attempt === 1) return rect;
  const middle = round(x(from) + width / 2);
  return `${rect}\n<text class="attempt" x="${middle}" y="${top + 9}" text-anchor="middle">${attempt}</text>`;
}

function cross(x: number, y: number): string {
  const [a, b, c, d] = [x - 4, y - 4, x + 4, y + 4].map(round);
  return `<path class="dropped" d="M${a} ${b}L${c} ${d}M${a} ${d}L${c} ${b}"/>`;
}

/** In which line of its row each bar is, so that none covers another. */
function lanesOf(bars: readonly Bar[]): readonly number[] {
  const ends: number[] = [];
  return bars.map(({ from, to }) => {
    const free = ends.findIndex((end) => end <= from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = to;
    return lane;
  });
}

const OUTCOMES: readonly (readonly [outcome: string, text: string])[] = [
  ["succeeded", "a run"],
  ["faulted", "a run that faults"],
  ["replaced", "a run that is replaced"],
  ["lost", "a run that is lost"],
];

/** What the picture has in it. */
function legendOf({ rows, pointText = "a point of the cadence" }: Scene): readonly Legend[] {
  const legend: Legend[] = [];
  if (rows.some(({ points }) => points.length > 0)) {
    legend.push({
      text: pointText,
      draw: (x, y) => `<circle class="point" cx="${x}" cy="${y}" r="3"/>`,
    });
  }
  if (rows.some(({ dropped }) => dropped.length > 0)) legend.push({ text: "dropped, and counted", draw: cross });
  for (const [outcome, text] of OUTCOMES) {
    if (!rows.some(({ bars }) => bars.some((bar) => bar.outcome === outcome))) continue;
    const box = (x: number, y: number) =>
      `<rect class="${outcome}" x="${x - 6}" y="${y - 5}" width="12" height="10" rx="2"/>`;
    legend.push({ text, draw: box });
  }
  if (rows.some(({ bars }) => bars.some(({ attempt }) => attempt > 1))) {
    legend.push({ text: "2: the second attempt", draw: () => "" });
  }
  return legend;
}

function drawLegend(legend: readonly Legend[], y: number): readonly string[] {
  let x = LEFT;
  return legend.map(({ text, draw }) => {
    const drawn = `${draw(x, y - 4)}\n<text class="legend" x="${x + 12}" y="${y}">${escape(text)}</text>`;
    x += 30 + text.length * 6;
    return drawn;
  });
}

function clock(ms: number, markMs: number): string {
  if (markMs % 60_000 === 0) return `${ms / 60_000} min`;
  return `${ms / 1_000} s`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
