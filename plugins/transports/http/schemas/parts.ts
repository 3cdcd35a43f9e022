import { type RouteConfig, z } from "@hono/zod-openapi";

const etag = z.string().openapi({
  description: "The schedule's revision, for `If-Match`.",
  example: '"6kq0q3l6sx4y1"',
});

/** The path parameter of a schedule. */
export const byId = z.object({ id: z.string().openapi({ description: "The schedule's id." }) });

/** Headers of requests that change a schedule. */
export const ifMatch = z.object({
  "if-match": z.string().optional().openapi({
    description:
      "An `ETag`: refuses with 412 if the schedule was changed since it was answered. Of several, with commas " +
      "between them, one has to match; a weak one, of `W/`, never does.",
  }),
});

/** Headers of creations. */
export const idempotencyKey = z.object({
  "idempotency-key": z.string().optional().openapi({
    description:
      "Any text of up to 200 characters: a repeated request of the caller with the same key, within a day, " +
      "answers what the first one made; one with another body is refused with 409.",
  }),
});

/** A response with a JSON body. */
export function answers(status: number, schema: z.ZodType, description: string): RouteConfig["responses"] {
  return { [status]: { description, content: { "application/json": { schema } } } };
}

/** A response that carries a schedule with its revision. */
export function answersSchedule(status: number, schema: z.ZodType, description: string): RouteConfig["responses"] {
  const headers = z.object({
    etag,
    ...(status === 201 ? { location: z.string().openapi({ description: "The schedule's path." }) } : {}),
  });
  return { [status]: { description, headers, content: { "application/json": { schema } } } };
}
