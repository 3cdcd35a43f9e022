import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { onTestFinished } from "vitest";

const FLAGS = "Deno" in globalThis ? ["run", "-A"] : ["--disable-warning=ExperimentalWarning"];

/** How a program is started. */
export interface ProgramOptions {
  /** Where it runs. */
  readonly directory: string;
  readonly parameters?: readonly string[];
  /** Variables beside those of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the runtime is told before the file. Default: run it, on Deno with all permissions. */
  readonly flags?: readonly string[];
}

/** A program in a process of its own, under the runtime that runs the tests; killed when the test ends. */
export class Program {
  output = "";
  readonly #file: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  #over = false;
  /** Told when there is more output, or none to come. */
  #waiting: (() => void)[] = [];

  constructor(file: string, { directory, parameters = [], env = {}, flags = FLAGS }: ProgramOptions) {
    this.#file = file;
    this.#child = spawn(process.execPath, [...flags, file, ...parameters], {
      cwd: directory,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        this.#wake();
      });
    }
    this.#closed = once(this.#child, "close");
    this.#child.on("close", () => {
      this.#over = true;
      this.#wake();
    });
    onTestFinished(() => void this.#child.kill("SIGKILL"));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Waits until the output matches. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    while (true) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.#over) throw new Error(`${this.#file} ended without having said ${pattern}:\n${this.output}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  kill(signal: NodeJS.Signals): void {
    // Not through the child: Deno then says that the signal ended it, also where it has exited with a code.
    process.kill(this.#child.pid!, signal);
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | string> {
    const [code, signal] = await this.#closed;
    return (code ?? signal) as number | string;
  }
}
