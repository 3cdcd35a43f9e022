import { join } from "node:path";
import { crashSuite } from "./crash_suite.ts";

crashSuite("sqlite files", { store: "sqlite", leaseMs: 30_000, place: (folder, life) => join(folder, `${life}.db`) });
