import { type RouteConfig, z } from "@hono/zod-openapi";
import { ERROR_CODES } from "../../../../src/contract/mod.ts";

/** An error as RFC 9457 has it. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string().openapi({ description: "The status in words." }),
  status: z.int().openapi({ description: "The status." }),
  detail: z.string().openapi({ description: "What was given, what was expected, and where." }),
  code: z.enum(Object.keys(ERROR_CODES) as [string, ...string[]]).optional().openapi({
    description: "What it is, for programs; absent for what a task's handler threw, and for a fault of the server.",
  }),
  details: z.unknown().optional().openapi({ description: "Facts for programs." }),
  retryable: z.boolean().optional().openapi({
    description: "Whether the same request may succeed later without any change.",
  }),
  name: z.string().optional().openapi({ description: "The name of the error that a task's handler threw." }),
}).openapi("Problem");

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "4XX": "The request was refused; `code` says why.",
  "5XX": "The server or its store failed.",
};

const headers = z.object({
  "retry-after": z.string().optional().openapi({ description: "Seconds after which it may be tried again." }),
  "www-authenticate": z.string().optional().openapi({ description: "With 401: the scheme of the credentials." }),
});

/** What every operation may answer instead. */
export function problemResponses(): RouteConfig["responses"] {
  const content = { "application/problem+json": { schema: problemSchema } };
  return Object.fromEntries(
    Object.entries(DESCRIPTIONS).map(([status, description]) => [status, { description, headers, content }]),
  );
}
