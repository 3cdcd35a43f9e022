import pg from "pg";
import { postgres } from "../../plugins/storage/postgres/mod.ts";
import type { PgPoolClientLike, PgPoolLike, PgQueryValue } from "../../plugins/storage/postgres/mod.ts";
import type { Storage, StorageContext } from "../../src/contract/mod.ts";
import { type RunningServer, startServer } from "../support/postgres_server.ts";
import type { SimulatedStore } from "./stores.ts";

let server: Promise<RunningServer> | undefined;
let schemas = 0;

/** A store on a real server whose clock shows virtual time: each statement is told what that is. */
export async function postgresStore(): Promise<SimulatedStore> {
  const { url } = await (server ??= startServer());
  const real = new pg.Pool({ connectionString: url, max: 2 });
  const schema = `simulated_${++schemas}`;
  // The server is stopped in the end, whatever connections are left.
  real.on("error", () => {});
  let now = () => 0;
  const handle = () => {
    const inner = postgres({ pool: atTime(real, () => now()), schema, listen: false });
    return new Proxy(inner, {
      get(target, key): unknown {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        if (key !== "open") return member.bind(target);
        return (context: StorageContext) => {
          now = () => context.clock.now();
          return target.open(context);
        };
      },
    }) as Storage;
  };
  const dispose = async () => {
    await real.query(`drop schema if exists "${schema}" cascade`);
    await real.end();
  };
  return { handle, dispose };
}

/** Stops the server, if one was started. */
export async function stopPostgres(): Promise<void> {
  await (await server)?.dispose();
}

function atTime(real: pg.Pool, now: () => number): PgPoolLike {
  const told = (text: string) => text.replaceAll("clock_timestamp()", `to_timestamp(${now()} / 1000.0)`);
  return {
    async connect(): Promise<PgPoolClientLike> {
      const client = await real.connect();
      return {
        query: (text: string, values?: PgQueryValue[]) => client.query(told(text), values),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
        release: (destroy) => client.release(destroy),
      };
    },
    end: () => real.end(),
    // Hosts that die take none of their listeners back; the loss of an idle connection is heard of above.
    on() {},
    removeListener() {},
  };
}
