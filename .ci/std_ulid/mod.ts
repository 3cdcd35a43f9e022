/**
 * Stands in for `jsr:@std/ulid` where JSR cannot be reached: the same two functions from the npm package. `links` in
 * deno.json puts it in place inside this repository. It is listed under `publish` because JSR refuses a module graph
 * that reaches a file of the folder that is not published; what is published imports the real `jsr:@std/ulid`.
 *
 * @module
 */
export { decodeTime, ulid } from "npm:ulid@^3";
