import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What `npm pack` holds is for test/package/try_tarball.ts to see, since it is built first. */
it("the JSR package holds the sources, the manifest and the texts, and nothing else", async () => {
  const deno = join(ROOT, "node_modules/.bin/deno");
  const { stderr } = await promisify(execFile)(deno, ["publish", "--dry-run", "--allow-dirty", "--no-check"], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
  });
  const files = [...stderr.matchAll(/^\s+(file:\/\/\S+) \(/gm)].map(([, url]) => relative(ROOT, fileURLToPath(url!)));
  const sources = ["src", "plugins"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => /\.\w+$/.test(file))
  );
  const texts = ["deno.json", "README.md", "LICENSE", "CHANGELOG.md"];
  // The stand-in for a library that cannot be reached from every machine; a release is made without it (.ci/release).
  const standIn = ".ci/std_ulid/mod.ts";
  expect(files.toSorted()).toEqual([standIn, ...texts, "mod.ts", ...sources].toSorted());
  expect(sources.filter((file) => !file.endsWith(".ts"))).toEqual([]);
}, 180_000);

it("no source that is published holds a way to this machine, or a test", () => {
  const sources = ["src", "plugins"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file))
  ).filter((file) => file.endsWith(".ts"));
  expect(sources.filter((file) => /\.test\.ts$/.test(file))).toEqual([]);
  expect(sources.filter((file) => readFileSync(join(ROOT, file), "utf8").includes(ROOT.slice(0, -1)))).toEqual([]);
});
