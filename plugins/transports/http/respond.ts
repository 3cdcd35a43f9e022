import type { Json, ScheduleInfo, Wire } from "../../../src/contract/mod.ts";
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
export function respondCreated(
  c: HttpCall,
  { created, ...info }: Wire<ScheduleInfo> & { readonly created: boolean },
): Response {
  const location = `${baseOf(c)}/v1/schedules/${info.id}`;
  return respondInfo(info as Wire<ScheduleInfo>, { status: created ? 201 : 200, headers: { location } });
}

/** The path under which the app is mounted; empty at the root. */
export function baseOf(c: HttpCall): string {
  const path = new URL(c.req.url).pathname;
  const end = path.lastIndexOf("/v1/");
  return end < 0 ? "" : path.slice(0, end);
}
