import { type Clock, type Logger, STORE_RETRY_MAX_MS } from "../../../src/contract/mod.ts";
import { cut, endsInTime } from "./closing.ts";
import { CONNECT_MS, type PgListenerLike } from "./connecting.ts";

/** The first pause before another attempt to connect, in milliseconds: less than one attempt a second. */
const FIRST_PAUSE_MS = 1_100;

/** How often the connection is asked whether it is still there, in milliseconds: a network may go without a word. */
const ALIVE_CHECK_MS = 30_000;

/** How long what is told over another connection may take to come in, in milliseconds, at the start of listening. */
const HEARD_MS = 5_000;

/** The pause before another attempt where it did not, in milliseconds: that is how the way to the database is set up. */
const DEAF_PAUSE_MS = 60_000;

/** What a {@linkcode Listener} works with, and tells. */
export interface ListenerOptions {
  readonly connect: () => Promise<PgListenerLike>;
  readonly channel: string;
  /** Has the database tell something on a channel, by another connection. */
  readonly tell: (channel: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Somebody has told something. */
  notified(sender: string | undefined): void;
  /** Whether it listens has changed; what was told while it did not is lost. */
  changed(listening: boolean): void;
}

/** A connection that listens and hears nothing. */
class Deaf extends Error {}

/** One connection that listens, and is made again when it is lost, after pauses that double. */
export class Listener {
  readonly #options: ListenerOptions;
  /** Where only this listener listens. */
  readonly #own = `ostinato ${crypto.randomUUID()}`;
  #client: PgListenerLike | undefined;
  /** Connections that are being made or ended. */
  readonly #passing = new Set<PgListenerLike>();
  #cancel: (() => void) | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Connects, now and whenever the connection is lost. */
  start(): void {
    void this.#connect();
  }

  /** Leaves no connection and no timer behind. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    if (this.#client !== undefined) this.#passing.add(this.#client);
    this.#client = undefined;
    await Promise.all([...this.#passing].map((client) => this.#end(client)));
  }

  async #connect(): Promise<void> {
    let client: PgListenerLike | undefined;
    try {
      const made = await this.#options.connect();
      if (this.#closed) return;
      client = made;
      this.#passing.add(made);
      const heard = await this.#listen(made);
      if (this.#closed) return await this.#end(client);
      if (!heard) {
        throw new Deaf(
          "what another connection tells does not come in, as behind a pooler of transactions; " +
            "expected an address past it as the option listen, or false",
        );
      }
      this.#passing.delete(client);
      this.#client = client;
      this.#failures = 0;
      this.#options.changed(true);
      this.#watch(client);
    } catch (error) {
      if (client !== undefined) void this.#end(client);
      if (this.#closed) return;
      if (this.#failures === 0) {
        this.#options.logger.warn("postgres: cannot listen for other instances; polling meanwhile", error);
      }
      this.#again(error instanceof Deaf ? DEAF_PAUSE_MS : 0);
    }
  }

  /** Begins to listen; answers whether what another connection tells comes in. */
  async #listen(client: PgListenerLike): Promise<boolean> {
    const { channel, clock, notified, tell } = this.#options;
    const lost = () => this.#lost(client);
    client.on("error", lost);
    client.on("end", lost);
    const heard = new Promise<void>((resolve, reject) => {
      client.on("notification", (told) => told.channel === this.#own ? resolve() : notified(told.payload));
      client.on("end", () => reject(new Error("the connection was lost")));
    });
    // It may be lost before anybody waits.
    heard.catch(() => {});
    const listening = client.connect().then(() => {
      client.unref?.();
      // Nothing else keeps it busy: a limit for sessions that were forgotten is not meant for it.
      return client.query(`listen "${channel}"; listen "${this.#own}"; set idle_session_timeout = 0`);
    });
    // A server may let a connection in and then say nothing more; another attempt may go elsewhere.
    if (!await endsInTime(clock, listening, { withinMs: CONNECT_MS, unref: true })) {
      throw new Error(`no answer within ${CONNECT_MS} ms`);
    }
    if (this.#closed) return false;
    await tell(this.#own);
    return await endsInTime(clock, heard, { withinMs: HEARD_MS, unref: true });
  }

  /** Asks from time to time whether the connection still works. */
  #watch(client: PgListenerLike): void {
    const { clock } = this.#options;
    this.#cancel = clock.setTimer(
      () => {
        this.#cancel = clock.setTimer(() => this.#lost(client), CONNECT_MS, { unref: true });
        client.query("select").then(() => {
          if (this.#client !== client) return;
          this.#cancel?.();
          this.#watch(client);
        }, () => this.#lost(client));
      },
      ALIVE_CHECK_MS,
      { unref: true },
    );
  }

  #lost(client: PgListenerLike): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#cancel?.();
    void this.#end(client);
    this.#options.changed(false);
    this.#again();
  }

  #again(leastMs = 0): void {
    const pause = Math.min(STORE_RETRY_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures++, 16));
    this.#cancel = this.#options.clock.setTimer(() => void this.#connect(), Math.max(leastMs, pause), { unref: true });
  }

  /** Ends a connection, whatever state it is in; only its own error tells more, and nobody needs that any more. */
  async #end(client: PgListenerLike): Promise<void> {
    this.#passing.add(client);
    client.on("error", () => {});
    if (!await endsInTime(this.#options.clock, client.end().catch(() => {}))) cut(client);
    this.#passing.delete(client);
  }
}
