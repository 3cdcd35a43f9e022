import { join } from "node:path";
import { crashSuite } from "./crash_suite.ts";

crashSuite("kv files", { store: "kv", leaseMs: 30_000, place: (folder, life) => join(folder, `${life}.db`) });
