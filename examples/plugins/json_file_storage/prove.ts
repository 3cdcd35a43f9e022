import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage, StorageContext } from "../../../src/contract/mod.ts";
import { manualClock, storageCases } from "../../../src/testing/mod.ts";
import { jsonFile } from "./mod.ts";

const context: StorageContext = { clock: manualClock(), logger: console };
let kept = 0;
for (const { name, needs = [], damages, run } of storageCases()) {
  const directory = await mkdtemp(join(tmpdir(), "json-file-"));
  const handles: Storage[] = [];
  const open = async () => {
    const storage = jsonFile(join(directory, "schedules.json"));
    await storage.open(context);
    handles.push(storage);
    return storage;
  };
  const { supports } = jsonFile(directory);
  // A file that is open is not read again, so there is nothing to damage behind the driver's back.
  if (damages === undefined && needs.every((ability) => supports[ability] === true)) {
    await run({ open }).catch((cause) => Promise.reject(new Error(`broken: ${name}`, { cause })));
    kept++;
  }
  for (const storage of handles) await storage.close();
  await rm(directory, { recursive: true });
}
console.log(`${kept} promises kept`);
