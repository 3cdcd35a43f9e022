/**
 * Stands in for `jsr:@std/ulid` where JSR cannot be reached: the same two functions from the npm package.
 * `links` in deno.json puts it in place inside this repository; the published package uses the real one.
 *
 * @module
 */
export { decodeTime, ulid } from "npm:ulid@^3";
