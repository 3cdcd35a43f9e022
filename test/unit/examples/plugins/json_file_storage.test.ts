import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { jsonFile } from "../../../../examples/plugins/json_file_storage/mod.ts";
import { createScheduler, defineTask } from "../../../../mod.ts";
import { manualClock } from "../../../../src/testing/mod.ts";
import { context, storageSuite } from "../../../conformance/storage_suite.ts";
import { recorder, scratch } from "../../support/schedulers.ts";

const WRITER = fileURLToPath(new URL("json_file_writer.ts", import.meta.url));
const RUNTIME = "Deno" in globalThis ? ["run", "-A"] : [];

storageSuite("the driver jsonFile", () => {
  const directory = mkdtempSync(join(tmpdir(), "ostinato-"));
  return {
    handle: () => jsonFile(join(directory, "schedules.json")),
    dispose: () => rmSync(directory, { recursive: true }),
  };
});

const note = defineTask("note", () => {});

describe("the file of jsonFile", () => {
  it("I3 holds the schedules as text that a person can read, and another scheduler goes on with them", async () => {
    const file = join(scratch(), "schedules.json");
    const clock = manualClock("2026-01-01T00:00:00Z");
    const open = () => createScheduler({ clock, storage: jsonFile(file), tasks: [note] });
    const first = open();
    const { id } = await first.every(note, "1h", { what: "tea" }, { name: "tea" });
    await first.close();
    const { format, documents } = JSON.parse(readFileSync(file, "utf8"));
    expect([format, documents[0].id, documents[0].definition.input]).toEqual([1, id, { what: "tea" }]);
    const second = open();
    await second.start();
    await clock.advance("3h");
    expect(await second.info(id)).toMatchObject({ name: "tea", runCount: 3 });
    await second.close();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("refuses a file that is none, is newer, or holds what is no document, and leaves it alone", async () => {
    const file = join(scratch(), "schedules.json");
    for (
      const [text, code, message] of [
        ["{broken", "store_unavailable", /it is no JSON/],
        ['{"format":2,"documents":[]}', "store_too_new", /its format is 2/],
        ["[]", "store_unavailable", /holds no documents/],
        ['{"format":1,"documents":[{"id":"x"}]}', "store_unavailable", /documents\[0\]: /],
      ] as const
    ) {
      writeFileSync(file, text);
      const storage = jsonFile(file);
      await expect(storage.open(context)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
      expect(readFileSync(file, "utf8")).toBe(text);
      expect(existsSync(`${file}.lock`)).toBe(false);
    }
  });

  it("U1 I3 a process that is killed loses nothing that had resolved, and leaves no half of a pair", async () => {
    const file = join(scratch(), "schedules.json");
    const child = spawn(process.execPath, [...RUNTIME, WRITER, file], { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    const enough = new Promise<void>((resolve) =>
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        if (printed.split("\n").length > 10) resolve();
      })
    );
    await enough;
    const busy = createScheduler({ storage: jsonFile(file), tasks: [note], logger: recorder([]) });
    await expect(busy.list().page()).rejects.toMatchObject({
      message: expect.stringContaining(`process ${child.pid}`),
    });
    child.kill("SIGKILL");
    await once(child, "close");
    const stored = new Set<string>();
    for await (const { id } of busy.list()) stored.add(id);
    const resolved = printed.split("\n").slice(0, -1).flatMap((line) => line.split(" "));
    expect(resolved.filter((id) => !stored.has(id))).toEqual([]);
    expect(stored.size % 2).toBe(0);
    await busy.close();
  });
});
