/** Creates schedules in a file until it is stopped, and prints the id of each once it is stored: for trying crashes. */
import process from "node:process";
import { createScheduler, defineTask } from "../../../../mod.ts";
import { jsonFile } from "../../../../examples/plugins/json_file_storage/mod.ts";

const note = defineTask("note", () => {});
const scheduler = createScheduler({ storage: jsonFile(process.argv[2]!), tasks: [note] });
for (;;) {
  const pair = await scheduler.createMany([{ task: note, after: "1d" }, { task: note, after: "2d" }]);
  process.stdout.write(`${pair.map(({ id }) => id).join(" ")}\n`);
}
