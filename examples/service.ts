/**
 * The scheduler as a service: schedules of any program that speaks HTTP, kept in SQLite or PostgreSQL.
 *
 *     npm start                         on Node
 *     deno run -A examples/service.ts   on Deno
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { createScheduler, defineTask, isSchedulerError, type Scheduler } from "../mod.ts";
import { postgres } from "../plugins/storage/postgres/mod.ts";
import { sqlite } from "../plugins/storage/sqlite/mod.ts";
import { bearerTokens, http, type Webhooks, webhooks } from "../plugins/transports/http/mod.ts";
import { type Duration, parseDuration } from "../src/contract/mod.ts";
import { CrontabSchedules, EXAMPLE_CRONTAB } from "./crontab_schedules.ts";
import { ended, Failure, run } from "./program.ts";
import { clock, printRuns } from "./quickstart_output.ts";
import { serve } from "./serve.ts";

const USAGE = `Usage: service.ts [options]

Serves the scheduler over HTTP. Its tasks are log, which prints its input, and wait, which takes { "duration": "10s" }.

  --quickstart       also keep the schedules of the quickstart, those of examples/crontab among them
  -h, --help         print this

Environment:
  DATABASE_URL       postgres://…, to keep schedules in PostgreSQL; without it they are kept in an SQLite file
  OSTINATO_DB        the SQLite file, created if it is absent (default: ostinato.db)
  HOST               the address to listen on (default: 127.0.0.1); any other than this machine's own needs TOKEN
  PORT               the port to listen on; 0: any that is free (default: 8080)
  TOKEN              what clients send as "Authorization: Bearer …", as an admin; without it one is made and printed
  WEBHOOK_SECRET     lets admins make webhook tasks: what their secrets are derived from, "whsec_" and base64
  ALLOWED_HOSTS      names besides localhost that a proxy on this machine passes on, with commas between them
  DRAIN              how long running handlers may go on after SIGTERM or SIGINT, such as 1m (default: 20s)
`;

interface Settings {
  readonly quickstart: boolean;
  readonly databaseUrl: string | undefined;
  readonly file: string;
  readonly hostname: string;
  readonly port: number;
  readonly token: string | undefined;
  readonly hosts: readonly string[];
  readonly webhooks: Webhooks | undefined;
  readonly drain: Duration;
}

/** The settings, unless help was asked for. An empty variable is none. */
function readSettings(env: Readonly<Record<string, string | undefined>>): Settings | undefined {
  const values = readArguments();
  if (values.help) return undefined;
  const { HOST, PORT, TOKEN, DATABASE_URL, OSTINATO_DB, ALLOWED_HOSTS, WEBHOOK_SECRET, DRAIN } = env;
  const port = Number(PORT || 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Failure(`PORT: "${PORT}" is no port`);
  if (TOKEN && !/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(TOKEN)) {
    throw new Failure(
      "TOKEN: expected ASCII without spaces at its ends or two in a row: nothing else arrives in a header",
    );
  }
  const hostname = HOST || "127.0.0.1";
  if (!TOKEN && !/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(hostname)) {
    throw new Failure(`HOST: others may reach ${hostname}, so TOKEN has to say what lets them in`);
  }
  const drain = DRAIN || "20s";
  parseDuration(drain, "DRAIN");
  return {
    quickstart: values.quickstart,
    databaseUrl: DATABASE_URL || undefined,
    file: OSTINATO_DB || "ostinato.db",
    hostname,
    port,
    token: TOKEN || undefined,
    hosts: (ALLOWED_HOSTS ?? "").split(",").map((name) => name.trim()).filter((name) => name !== ""),
    webhooks: WEBHOOK_SECRET ? readWebhooks(WEBHOOK_SECRET) : undefined,
    drain,
  };
}

function readWebhooks(secrets: string): Webhooks {
  try {
    return webhooks({ secret: secrets.split(",") });
  } catch (error) {
    throw isSchedulerError(error) ? new Failure(`WEBHOOK_SECRET: ${error.message}`) : error;
  }
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        quickstart: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

/** The tasks that there are from the start: enough to try everything with. */
const log = defineTask("log", (input, { schedule, scheduledAt }) => {
  console.log(`${clock()}  ${schedule.name ?? schedule.id} of ${scheduledAt.toISOString()}: ${JSON.stringify(input)}`);
});
const wait = defineTask("wait", {
  input: z.object({ duration: z.string() }),
  async run({ duration }, { schedule, signal }) {
    const name = schedule.name ?? schedule.id;
    console.log(`${clock()}  ${name}: waits ${duration}`);
    await sleep(parseDuration(duration as Duration, "duration"), undefined, { signal });
    console.log(`${clock()}  ${name}: has waited`);
  },
});

async function listen(scheduler: Scheduler, settings: Settings) {
  const token = settings.token ?? randomBytes(24).toString("base64url");
  const app = http(scheduler, {
    authenticate: bearerTokens({ [token]: { id: "operator", admin: true } }),
    hosts: settings.hosts,
    ...(settings.webhooks === undefined ? {} : { webhooks: settings.webhooks }),
  });
  const server = await serve(app.fetch, settings).catch((error) => {
    const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
    if (code !== "EADDRINUSE" && name !== "AddrInUse") throw error;
    throw new Failure(
      `PORT: ${settings.port} is in use on ${settings.hostname}; PORT chooses another, 0 any that is free`,
    );
  });
  const store = settings.databaseUrl === undefined ? settings.file : "PostgreSQL";
  const made = settings.token === undefined ? `; token: ${token}` : "";
  console.log(`Listening on ${server.url}, schedules in ${store}${made}`);
  return server;
}

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  if (settings === undefined) return console.log(USAGE);
  const { databaseUrl, file, drain, webhooks } = settings;
  const crontab = settings.quickstart ? new CrontabSchedules({ file: EXAMPLE_CRONTAB, run: false }) : undefined;
  const scheduler = createScheduler({
    storage: databaseUrl === undefined ? sqlite(file) : postgres(databaseUrl),
    tasks: [log, wait, ...(crontab?.tasks ?? [])],
    plugins: [...(webhooks === undefined ? [] : [webhooks]), ...(crontab === undefined ? [] : [printRuns()])],
  });
  try {
    if (await crontab?.read(scheduler)) await crontab!.register(scheduler);
    const end = ended();
    await scheduler.start();
    const server = await listen(scheduler, settings);
    const why = await end;
    console.log(`${clock()}  ${why}; draining`);
    // It goes on answering meanwhile, so that whoever sends requests sees in /readyz that no more should come.
    server.drain();
    await scheduler.close({ drain });
    await server.close();
  } finally {
    await scheduler.close({ drain: 0 });
  }
  console.log(`${clock()}  closed; the schedules stay`);
}

await run(main);
