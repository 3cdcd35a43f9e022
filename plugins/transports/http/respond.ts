import type { Json, ScheduleInfo, Wire, WireCreated } from "../../../src/contract/mod.ts";
import type { HttpCall } from "./context.ts";
import { infoToJson } from "./info_json.ts";
import { securedJson } from "./secure.ts";

/** Answers a schedule, with its revision as the entity tag. */
export function respondInfo(
  info: Wire<ScheduleInfo>,
  { status = 200, body = infoToJson(info), headers = {} }: {
    readonly status?: 200 | 201;
    readonly body?: Json;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Response {
  return securedJson(body, status, { etag: `"${info.revision}"`, ...headers });
}

/** Answers a schedule that was made, or found by its name or key. */
export function respondCreated(c: HttpCall, made: WireCreated): Response {
  const location = `${baseOf(c)}/v1/schedules/${made.id}`;
  return respondInfo(made, { status: made.created ? 201 : 200, headers: { location } });
}

/** The path under which the app is mounted; empty at the root. */
export function baseOf(c: HttpCall): string {
  const [address] = c.req.url.split(/[?#]/, 1) as [string];
  const start = address.indexOf("/", address.indexOf("//") + 2);
  const end = address.lastIndexOf("/v1/");
  return start < 0 || end < start ? "" : address.slice(start, end);
}
