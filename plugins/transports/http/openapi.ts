import type { HttpContext } from "./context.ts";
import type { OpenApp } from "./operation.ts";
import { baseOf } from "./respond.ts";

/** Serves the document of every operation that was added before, as the schemas that requests are held to tell it. */
export function addDocument(app: OpenApp, { guard }: HttpContext): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" });
  app.get("/v1/openapi.json", async (c) => {
    await guard(c);
    return c.json(
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: {
          title: "Scheduler",
          version: "1",
          description: "Durable schedules. Errors are problem documents (RFC 9457) with a stable `code`.",
        },
        servers: [{ url: baseOf(c) || "/" }],
      }),
    );
  });
}
