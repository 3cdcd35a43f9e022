import { type ChildProcess, spawn } from "node:child_process";

/** A process of this runtime that runs a TypeScript file. */
export interface Running {
  readonly child: ChildProcess;
  /** The JSON lines it has told so far. */
  readonly told: unknown[];
  /** Resolves once it has told so many lines. */
  tells(lines: number): Promise<void>;
  /** Resolves with its exit code once it is gone; rejects with what it said if that is not 0, unless it was killed. */
  readonly gone: Promise<number | null>;
}

/** Starts a file of the tests as a process of its own, on the runtime that the tests run on. */
export function start(script: string, ...parameters: string[]): Running {
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const child = spawn(process.execPath, [...runtime, script, ...parameters], { stdio: ["ignore", "pipe", "pipe"] });
  const told: unknown[] = [];
  let [out, err] = ["", ""];
  let heard = () => {};
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const lines = (out + text).split("\n");
    out = lines.pop()!;
    told.push(...lines.map((line) => JSON.parse(line)));
    heard();
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => err += text);
  const gone = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      heard();
      if (code === 0 || code === null) resolve(code);
      else reject(new Error(`${script} ${parameters.join(" ")} ended with ${code}: ${err}`));
    });
  });
  const tells = async (lines: number) => {
    while (told.length < lines) {
      await Promise.race([new Promise<void>((resolve) => heard = resolve), gone]);
      if (told.length < lines && child.exitCode !== null) {
        throw new Error(`it ended after ${told.length} lines: ${err}`);
      }
    }
  };
  return { child, told, tells, gone };
}
