import { z } from "@hono/zod-openapi";

/** An instant. */
export const instant = z.union([z.string(), z.number()], "expected an instant").openapi("Instant", {
  description: "ISO 8601 text with an offset or `Z`, or milliseconds since the Unix epoch.",
  example: "2027-01-01T00:00:00Z",
});

/** A duration. */
export const duration = z.union([z.string(), z.number()], "expected a duration").openapi("Duration", {
  description: 'Text such as `"250ms"`, `"10s"`, `"5m"`, `"2h"`, `"1d"`, `"1w"`, or milliseconds.',
  example: "5m",
});

/** Any JSON value. */
export const json = z.unknown().openapi("Json", { description: "Any JSON value." });

/** An instant in an answer. */
export const utc = z.string().openapi("Utc", {
  description: "ISO 8601 text in UTC, with milliseconds.",
  example: "2027-01-01T00:00:00.000Z",
});

/** An instant in an answer, where there is one. */
export const utcOrNull = z.union([utc, z.null()]);

/** How a schedule recurs. */
export const kind = z.enum(["at", "every", "cron"]).openapi("Kind", {
  description: "Once, at an interval, or by the calendar.",
});

/** A number in a query, as a number; anything else as it is, for the call to refuse. */
export const queryNumber = z.string().transform((text) => /^-?\d{1,15}$/.test(text) ? Number(text) : text).openapi({
  type: "integer",
});

/** A truth value in a query. */
export const queryBoolean = z.string().transform((text) => text === "true" ? true : text === "false" ? false : text)
  .openapi({ type: "boolean" });

/** An instant in a query: text, or milliseconds. */
export const queryInstant = queryNumber.openapi({ type: "string", format: "date-time" });
