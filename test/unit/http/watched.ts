import { httpClient, type HttpClientOptions } from "../../../plugins/transports/http/mod.ts";
import { served } from "./served.ts";

/** A client of a scheduler whose requests a test may look at, lose or answer itself. */
export async function watched(
  around: (request: Request, next: () => Promise<Response>, n: number) => Promise<Response> | Response,
  options: HttpClientOptions = {},
) {
  const world = await served();
  const requests: Request[] = [];
  const client = httpClient("http://localhost", {
    token: "alice",
    fetch: async (request) => {
      requests.push(request.clone());
      return await around(request, async () => await world.app.fetch(request), requests.length);
    },
    ...options,
  });
  return { ...world, client, requests };
}
