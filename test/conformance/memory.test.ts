import { memory } from "../../plugins/storage/memory/mod.ts";
import { storageSuite } from "./storage_suite.ts";

storageSuite("memory", () => {
  const storage = memory();
  return { handle: () => storage.handle() };
});
