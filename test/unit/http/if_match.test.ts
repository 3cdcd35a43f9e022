import { describe, expect, it } from "vitest";
import { served } from "./served.ts";

const every = { task: "beat", every: "1h" };
const NOBODYS = "01KDTW9M000000000000000000";

describe("If-Match", () => {
  /** The statuses of each way to change a schedule that has just been made. */
  async function statuses(matchOf: (etag: string) => string) {
    const { ask } = await served();
    const ways = [["PATCH", "", {}], ["POST", "/pause"], ["POST", "/resume"], ["POST", "/trigger"], ["DELETE", ""]];
    const told = await Promise.all(ways.map(async ([method, path, body]) => {
      const { json: { id }, headers } = await ask("POST", "/v1/schedules", { body: every });
      const given = { "if-match": matchOf(headers.get("etag")!) };
      const asked = { headers: given, ...(body === undefined ? {} : { body }) };
      const hidden = await ask(method as string, `/v1/schedules/${id}${path}`, { ...asked, as: "bob" });
      const none = await ask(method as string, `/v1/schedules/${NOBODYS}${path}`, asked);
      expect(hidden.text.replaceAll(id, "?")).toBe(none.text.replaceAll(NOBODYS, "?"));
      const answer = await ask(method as string, `/v1/schedules/${id}${path}`, asked);
      if (answer.status === 412) {
        expect(answer.json).toMatchObject({
          code: "conflict",
          details: { revision: headers.get("etag")!.slice(1, -1) },
        });
      }
      return answer.status;
    }));
    return [...new Set(told.map((status) => status === 204 ? 200 : status))];
  }

  it.each<[string, (etag: string) => string, number]>([
    ["*", () => "*", 200],
    ["the tag", (etag) => etag, 200],
    ["another", () => '"x"', 412],
    ["an empty one", () => '""', 412],
    ["the tag, weak", (etag) => `W/${etag}`, 412],
    ["weak ones", (etag) => `W/${etag}, W/"b"`, 412],
    ["a list with it", (etag) => `"a", ${etag}`, 200],
    ["a list with it, first, and empty members", (etag) => `${etag},,\t"a" ,`, 200],
    ["a list of it and of tags with commas", (etag) => `"a,b", "c,W/", ${etag}`, 200],
    ["a list without it", () => '"a", "b"', 412],
    ["a list with it, weak only", (etag) => `"a", W/${etag}`, 412],
    ["a list with a weak one, and it", (etag) => `W/"a", ${etag}`, 200],
    ["a hundred", (etag) => `${'"a",'.repeat(99)}${etag}`, 200],
    ["more", (etag) => `${'"a",'.repeat(100)}${etag}`, 400],
    ["no tag", () => "x", 400],
    ["no tag, weak", () => "W/x", 400],
    ["a small w", (etag) => `w/${etag}`, 400],
    ["a list with *", (etag) => `*, ${etag}`, 400],
    ["a list without commas", (etag) => `"a" ${etag}`, 400],
    ["commas alone", () => ",", 400],
    ["half a tag", (etag) => `${etag}, "a`, 400],
  ])("%s is evaluated as RFC 9110 says", async (_, matchOf, status) => {
    expect(await statuses(matchOf)).toEqual([status]);
  });
});
