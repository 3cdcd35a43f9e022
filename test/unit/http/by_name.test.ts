import { describe, expect, it } from "vitest";
import { served } from "./served.ts";

const every = { task: "beat", every: "1h" };

describe("P2 by its name", () => {
  it("a schedule is the caller's own, and for an admin that of the owner who is named", async () => {
    const { ask } = await served();
    const put = async (as: string) => (await ask("PUT", "/v1/schedules/by-name/daily", { as, body: every })).json;
    const get = (as: string, query = "") => ask("GET", `/v1/schedules/by-name/daily${query}`, { as });
    expect([(await get("alice")).status, (await get("root")).status]).toEqual([404, 404]);
    const [alices, bobs] = [await put("alice"), await put("bob")];
    const got = await get("alice");
    expect([got.status, got.json, got.headers.get("etag")]).toEqual([200, alices, `"${alices.revision}"`]);
    expect((await get("bob")).json).toEqual(bobs);
    expect((await get("alice", "?owner=alice")).json).toEqual(alices);
    expect((await get("root")).json).toMatchObject({
      status: 404,
      code: "not_found",
      detail: 'schedule "daily": there is none of this name',
    });
    expect((await get("root", "?owner=bob")).json).toEqual(bobs);
    expect((await get("root", "?owner=nobody")).status).toBe(404);
    for (const query of ["?owner=bob", "?owner=nobody"]) {
      expect((await get("alice", query)).json).toMatchObject({ status: 403, code: "permission_denied" });
    }
    for (const query of ["?task=beat", "?ownr=bob", "?owner=a&owner=b"]) {
      expect([query, (await get("root", query)).status]).toEqual([query, 400]);
    }
    expect((await ask("DELETE", `/v1/schedules/${alices.id}`)).status).toBe(204);
    expect((await get("alice")).status).toBe(404);
    expect((await ask("HEAD", "/v1/schedules/by-name/daily", { as: "bob" })).status).toBe(200);
  });
});
