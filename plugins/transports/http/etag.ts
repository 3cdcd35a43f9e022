import { invalidOption, SchedulerError } from "../../../src/contract/mod.ts";
import { MAX_ENTITY_TAGS } from "./limits.ts";
import type { OperationRequest } from "./operation.ts";

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/;
const LIST = new RegExp(`^[ \\t,]*${TAG.source}(?:[ \\t]*,[ \\t,]*${TAG.source})*[ \\t,]*$`);

/**
 * Reads `If-Match` as RFC 9110 has it: the revision that the schedule must still have when the change is committed. Of
 * several tags it is the one that the schedule has now, if it has any of them.
 *
 * @throws {SchedulerError} `invalid_option`; `conflict` where there are weak tags alone, which never match; what `info`
 * throws of a schedule that the caller may not see.
 */
export async function readIfMatch(
  { c, call }: Pick<OperationRequest, "c" | "call">,
  id: string,
): Promise<{ readonly ifRevision?: string }> {
  const given = c.req.header("if-match")?.trim();
  if (given === undefined || given === "*") return {};
  const tags = LIST.test(given) ? [...given.matchAll(new RegExp(TAG, "g"))] : [];
  if (tags.length === 0 || tags.length > MAX_ENTITY_TAGS) {
    throw invalidOption(
      "If-Match",
      given,
      `* or from 1 to ${MAX_ENTITY_TAGS} ETags such as "6kq0q3l6sx4y1", in quotes`,
    );
  }
  const strong = tags.filter(([, weak]) => weak === undefined).map(([, , tag]) => tag!);
  if (strong.length === 1) return { ifRevision: strong[0]! };
  const { revision } = await call("info", { id });
  if (strong.length === 0) throw weakOnly(id, revision);
  return { ifRevision: strong.find((tag) => tag === revision) ?? strong[0]! };
}

function weakOnly(id: string, revision: string): SchedulerError {
  return new SchedulerError(
    "conflict",
    `schedule ${id}: If-Match has weak tags alone, which never match; expected the ETag as it was answered, without W/`,
    { details: { id, revision } },
  );
}
