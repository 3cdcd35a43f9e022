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

/** Headers of an answer that carries a schedule. */
export const tagged = { etag };

/** Headers of an answer that carries what was made, or found by its name or key. */
export const placed = { etag, location: z.string().openapi({ description: "Its path." }) };

/** A response with a JSON body. */
export function answers(
  status: number,
  schema: z.ZodType,
  description: string,
  headers?: z.ZodRawShape,
): RouteConfig["responses"] {
  const told = headers === undefined ? {} : { headers: z.object(headers) };
  return { [status]: { description, ...told, content: { "application/json": { schema } } } };
}
