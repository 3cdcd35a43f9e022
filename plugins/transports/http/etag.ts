import { invalidOption } from "../../../src/contract/mod.ts";
import type { HttpCall } from "./context.ts";

/** Reads `If-Match`: the revision that the schedule must still have when the change is committed. */
export function readIfMatch(c: HttpCall): { readonly ifRevision?: string } {
  const given = c.req.header("if-match")?.trim();
  if (given === undefined || given === "*") return {};
  const revision = /^"([\x21\x23-\x7e]{1,100})"$/.exec(given)?.[1];
  if (revision === undefined) throw invalidOption("If-Match", given, 'one ETag such as "\\"6kq0q3l6sx4y1\\""');
  return { ifRevision: revision };
}
