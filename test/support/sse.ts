import { createParser, type EventSourceMessage } from "eventsource-parser";

/** A message of a stream, its data read. */
export interface StreamMessage {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Reads server-sent events, through somebody else's parser. */
export class SseReader {
  /** What the stream said of coming back. */
  retryMs: number | undefined;
  /** Bytes read so far. */
  bytes = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #messages: StreamMessage[] = [];
  readonly #decoder = new TextDecoder();
  /** The latest id, also of messages without data, which a parser keeps to itself. */
  #lastId: string | undefined;
  readonly #parser = createParser({
    onEvent: ({ event, id, data }: EventSourceMessage) => this.#messages.push({ event, id, data: JSON.parse(data) }),
    onRetry: (retry: number) => this.retryMs = retry,
  });

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** Reads one piece; false at the end. */
  async read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.bytes += value.length;
    const text = this.#decoder.decode(value, { stream: true });
    for (const [, id] of text.matchAll(/^id: (.*)$/gm)) this.#lastId = id;
    this.#parser.feed(text);
    return true;
  }

  /** The next message; undefined at the end. */
  async next(): Promise<StreamMessage | undefined> {
    while (this.#messages.length === 0) if (!await this.read()) return undefined;
    return this.#messages.shift();
  }

  /** The next so many messages' names, or fewer at the end. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) {
      const message = await this.next();
      if (message === undefined) break;
      names.push(message.event ?? "message");
    }
    return names;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
