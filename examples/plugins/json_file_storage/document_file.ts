import { open, readFile, rename, rm } from "node:fs/promises";
import process from "node:process";
import { checkDocument, type ScheduleDocument, SchedulerError, StorageError } from "../../../src/contract/mod.ts";

/** The form of the file; one with a higher number was written by a later version of this driver. */
const FORMAT = 1;

/** A file that holds documents: read once, then replaced as a whole by each write. Belongs to one process at a time. */
export class DocumentFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Takes the file for this process and reads it; one that is not there yet is empty. */
  async open(): Promise<readonly ScheduleDocument[]> {
    await this.#lock();
    try {
      return parse(this.path, await readFile(this.path, "utf8"));
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === "ENOENT") return [];
      await this.close();
      throw error instanceof SchedulerError ? error : this.#failed("reading", error);
    }
  }

  /** Replaces the file. Whatever happens, it holds all of the old documents or all of the new ones. */
  async write(documents: Iterable<ScheduleDocument>): Promise<void> {
    const text = JSON.stringify({ format: FORMAT, documents: [...documents] }, null, 1);
    const temporary = `${this.path}.new`;
    try {
      const file = await open(temporary, "w");
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.path);
    } catch (error) {
      throw this.#failed("writing", error);
    }
  }

  /** Gives the file back. */
  async close(): Promise<void> {
    await rm(this.#lockPath, { force: true });
  }

  get #lockPath(): string {
    return `${this.path}.lock`;
  }

  /** A file beside it says whose it is; one that a dead process left behind does not count. */
  async #lock(): Promise<void> {
    for (;;) {
      try {
        const lock = await open(this.#lockPath, "wx");
        await lock.writeFile(String(process.pid));
        return await lock.close();
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== "EEXIST") throw this.#failed("locking", error);
      }
      const owner = Number(await readFile(this.#lockPath, "utf8").catch(() => ""));
      if (owner !== process.pid && isAlive(owner)) {
        throw new StorageError(`json file ${this.path}: process ${owner} has it; expected one that nobody has`, {
          retryable: false,
        });
      }
      await this.close();
    }
  }

  #failed(what: string, cause: unknown): StorageError {
    return new StorageError(`json file ${this.path}: ${what} it failed: ${(cause as Error).message}`, { cause });
  }
}

function parse(path: string, text: string): readonly ScheduleDocument[] {
  const refuse = (problem: string, cause?: unknown) =>
    new StorageError(`json file ${path}: ${problem}`, { retryable: false, cause });
  let value: { readonly format?: unknown; readonly documents?: unknown };
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refuse("it is no JSON", cause);
  }
  if (typeof value?.format === "number" && value.format > FORMAT) {
    throw new SchedulerError("store_too_new", `json file ${path}: its format is ${value.format}; expected ${FORMAT}`);
  }
  if (value?.format !== FORMAT || !Array.isArray(value.documents)) throw refuse("it holds no documents");
  return value.documents.map((document, i) => {
    try {
      return checkDocument(document);
    } catch (cause) {
      throw refuse(`documents[${i}]: ${(cause as Error).message}`, cause);
    }
  });
}

/** Signal 0 reaches a process that there is, and does nothing to it. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "EPERM";
  }
}
