/** A worker process: runs one contender and tells the parent what its handler saw. */
import { contender, type Name } from "./contenders.ts";

const [name, url, each] = process.argv.slice(2) as [Name, string, string];
const worker = contender(name, url);
const seen: number[] = [];
const lateMs: number[] = [];

process.on("message", async (command: string) => {
  if (command === "start") {
    await worker.startWorker((id, due) => {
      seen.push(id);
      lateMs.push(Date.now() - due);
      if (each === "each") process.send!({ started: id, at: Date.now() });
    });
    process.send!({ began: true });
  } else if (command === "report") process.send!({ seen, lateMs });
  else {
    await worker.close();
    process.exit();
  }
});
process.on("disconnect", () => process.exit());
await worker.setup(false);
process.send!({ ready: true });
