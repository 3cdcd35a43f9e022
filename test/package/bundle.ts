import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ENTRY = "\0entry";

/** What a bundler made of a program. */
export interface Bundle {
  /** The code, minified, without libraries. */
  readonly code: string;
  /** What it imports that is no file of this repository. */
  readonly libraries: readonly string[];
}

/**
 * Bundles a program, given as text, as an application that uses the package would.
 *
 * @param isPure What the manifest says (`sideEffects: false`) is believed; otherwise the bundler looks at the code alone.
 */
export async function bundle(program: string, isPure: boolean): Promise<Bundle> {
  const output = await build({
    root: ROOT,
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: true,
      target: "es2022",
      modulePreload: false,
      rolldownOptions: {
        input: ENTRY,
        external: (id) => id !== ENTRY && !/^[./]/.test(id),
        preserveEntrySignatures: "strict",
      },
    },
    plugins: [{
      name: "entry",
      enforce: "pre",
      resolveId(id, importer) {
        if (id === ENTRY) return id;
        if (!/^[./]/.test(id)) return null;
        const file = id.startsWith("/") ? id : join(dirname(importer!), id);
        return { id: file, moduleSideEffects: !isPure };
      },
      load: (id) => id === ENTRY ? program : null,
    }],
  }) as Rolldown.RolldownOutput;
  const chunks = output.output.filter((part) => part.type === "chunk");
  const libraries = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((id) => !chunks.some(({ fileName }) => fileName === id));
  return { code: chunks.map(({ code }) => code).join("\n"), libraries: [...new Set(libraries)].sort() };
}
