/**
 * Draws the README's pictures of the policies, from schedulers that really run on a clock that is moved by hand.
 *
 *     node examples/pictures/draw.ts             (npm run pictures)
 *     deno run -A examples/pictures/draw.ts
 *
 * With `--check` it only tells whether the files are what it would draw.
 *
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { scenes } from "./scenes.ts";
import { draw } from "./svg.ts";

/** A generator of chance that is the same each time (mulberry32), so that the pictures are. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Jitter comes from chance, a spread from the schedule's id, and an id from the time and from chance. */
function withoutChance(): void {
  const random = seeded(7);
  Math.random = random;
  Date.now = () => Date.parse("2030-01-01T00:00:00Z");
  crypto.getRandomValues = (array) => {
    const bytes = array as unknown as Uint8Array;
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
    return array;
  };
}

withoutChance();
const isCheck = process.argv.includes("--check");
for (const scene of await scenes()) {
  const file = new URL(`${scene.name}.svg`, import.meta.url);
  const drawn = draw(scene);
  if (!isCheck) {
    writeFileSync(file, drawn);
    console.log(`drew ${scene.name}.svg: ${scene.title}`);
  } else if (readFileSync(file, "utf8") === drawn) {
    console.log(`${scene.name}.svg is current`);
  } else {
    process.exitCode = 1;
    console.error(`${scene.name}.svg is not current: npm run pictures draws it anew`);
  }
}
