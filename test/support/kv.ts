import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KvLike } from "../../plugins/storage/kv/mod.ts";

const runtime = globalThis as { readonly Deno?: { openKv(path: string): Promise<KvLike> } };

/** A handle of one's own: on Deno its own, on Node the package's. */
export async function openKv(path: string): Promise<KvLike> {
  if (runtime.Deno !== undefined) return await runtime.Deno.openKv(path);
  const { openKv } = await import("@deno/kv");
  return await openKv(path) as KvLike;
}

/** A folder for one test, and a KV file in it. */
export function scratchKv(): { readonly file: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  return { file: join(directory, "schedules.kv"), remove: () => rmSync(directory, { recursive: true, force: true }) };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Overwrites a text of a stored document, as a person with an editor would. */
export async function damageDocument(
  file: string,
  id: string,
  what: "definition" | "progress",
  text: string,
  prefix = "ostinato",
): Promise<void> {
  const handle = await openKv(file);
  await editLines(handle, id, (lines) => void (lines[what === "definition" ? 1 : 2] = text), prefix);
  handle.close();
}

/** Edits what a stored document is found by: the values of its first line. */
export async function editHeader(handle: KvLike, id: string, edit: (header: unknown[]) => void): Promise<void> {
  await editLines(handle, id, (lines) => {
    const header = JSON.parse(lines[0]!) as unknown[];
    edit(header);
    lines[0] = JSON.stringify(header);
  });
}

/** Edits the lines of a stored document: what it is found by, its definition, its progress. */
export async function editLines(
  handle: KvLike,
  id: string,
  edit: (lines: string[]) => void,
  prefix = "ostinato",
): Promise<void> {
  const key = [prefix, "schedule", id];
  const [entry] = await handle.getMany([key]);
  const lines = decoder.decode(entry!.value as Uint8Array).split("\n");
  edit(lines);
  const commit = handle.atomic();
  commit.set(key, encoder.encode(lines.join("\n")));
  commit.set([prefix, "meta", "last"], null);
  await commit.commit();
}
