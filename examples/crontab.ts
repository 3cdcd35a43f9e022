/**
 * Reads a user's crontab, as `crontab -l` prints it, into named cron schedules.
 *
 * What crontab(5) says holds: comments, blank lines, `NAME=value` lines for the lines below them, `CRON_TZ` for the zone
 * of the lines below it, nicknames, and `%` in a command (the first one ends it, what follows is its standard input, `\%`
 * is a plain one). Two things go beyond it: six fields are read as seconds first, and a comment at the end of a command
 * (`backup.sh # nightly-backup`), which the shell ignores anyway, names the schedule.
 *
 * @module
 */

/** One line that says when to run what. */
export interface CrontabEntry {
  /** Where it stands, counted from 1. */
  readonly line: number;
  /** Its comment at the end, else the command itself; unique in the file. */
  readonly name: string;
  readonly cron: string;
  /** The value of `CRON_TZ` above it, if there is one. */
  readonly timezone: string | undefined;
  readonly command: string;
  /** What the command reads, if its line has a `%`. */
  readonly stdin: string | undefined;
  /** The variables set above it. */
  readonly env: Readonly<Record<string, string>>;
}

/** What is wrong with a line. */
export interface CrontabProblem {
  readonly line: number;
  readonly message: string;
}

/** A crontab, read. */
export interface Crontab {
  readonly entries: readonly CrontabEntry[];
  /** Lines that mean something cron has and a scheduler has not: `@reboot`. */
  readonly unsupported: readonly CrontabProblem[];
  /** Lines that mean nothing. As with crontab(1), a file that has any should not be installed. */
  readonly errors: readonly CrontabProblem[];
}

/** Throws an error that says what is wrong with an expression or its zone; `scheduler.nextRuns` does. */
export type CheckCron = (cron: string, timezone: string | undefined) => void;

const ASSIGNMENT = /^(?:"(\w+)"|'(\w+)'|([A-Za-z_]\w*))\s*=\s*(.*)$/;
const NICKNAME = /^(@\S+)(?:\s+(.*))?$/;
const FIVE_FIELDS = /^(\S+\s+\S+\s+\S+\s+\S+\s+\S+)(?:\s+(.*))?$/;
const SIXTH_FIELD = /^(?:[\d*?][\d*?,/#L-]*|H(?:\(\d+-\d+\))?(?:\/\d+)?)$/;
const WEEKDAYS = /^(?:sun|mon|tue|wed|thu|fri|sat)(?:[-,](?:sun|mon|tue|wed|thu|fri|sat))*$/i;

/** Longest name taken from a command; the scheduler allows 200 characters, and a repeated one gets a number. */
const MAX_NAME = 180;

/** Reads a crontab as a whole: every line that is wrong is told, not just the first. */
export function parseCrontab(text: string, check: CheckCron): Crontab {
  const reader = new Reader(check);
  text.replace(/^\uFEFF/, "").split(/\r?\n/).forEach((line, index) => reader.read(line.trim(), index + 1));
  return reader;
}

class Reader implements Crontab {
  readonly entries: CrontabEntry[] = [];
  readonly unsupported: CrontabProblem[] = [];
  readonly errors: CrontabProblem[] = [];
  readonly #check: CheckCron;
  readonly #names = new Set<string>();
  #env: Readonly<Record<string, string>> = {};
  #timezone: string | undefined;

  constructor(check: CheckCron) {
    this.#check = check;
  }

  read(text: string, line: number): void {
    if (text === "" || text.startsWith("#")) return;
    try {
      const assignment = ASSIGNMENT.exec(text);
      if (assignment !== null) return this.#assign(assignment);
      const { cron, rest } = splitLine(text);
      if (cron.toLowerCase() === "@reboot") {
        const message =
          "@reboot is not supported: schedules outlive the processes that run them; call it at your start";
        this.unsupported.push({ line, message });
        return;
      }
      this.#check(cron, this.#timezone);
      this.#add(line, cron, rest);
    } catch (error) {
      this.errors.push({ line, message: error instanceof Error ? error.message : String(error) });
    }
  }

  #assign([, doubleQuoted, singleQuoted, plain, given]: RegExpExecArray): void {
    const name = (doubleQuoted ?? singleQuoted ?? plain)!;
    const value = unquote(given!);
    if (name === "CRON_TZ") {
      const timezone = value === "" ? undefined : value;
      this.#check("@daily", timezone);
      this.#timezone = timezone;
    } else {
      this.#env = { ...this.#env, [name]: value };
    }
  }

  #add(line: number, cron: string, rest: string): void {
    const [beforePercent, stdin] = splitPercent(rest);
    const { command, comment } = splitComment(beforePercent);
    if (command === "") throw new Error("there is no command after the schedule");
    const name = this.#unique(comment || command);
    this.entries.push({ line, name, cron, timezone: this.#timezone, command, stdin, env: this.#env });
  }

  #unique(text: string): string {
    const short = text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text;
    let name = short;
    for (let count = 2; this.#names.has(name); count++) name = `${short} (${count})`;
    this.#names.add(name);
    return name;
  }
}

/** Parts a line's schedule from its command. */
function splitLine(text: string): { readonly cron: string; readonly rest: string } {
  const nickname = NICKNAME.exec(text);
  if (nickname !== null) return { cron: nickname[1]!, rest: nickname[2] ?? "" };
  const match = FIVE_FIELDS.exec(text);
  if (match === null) {
    throw new Error(
      `${
        JSON.stringify(text)
      } is not a line of a crontab; expected five fields or a nickname such as @daily, then a command`,
    );
  }
  const [, five, rest = ""] = match;
  const [sixth = ""] = rest.split(/\s/, 1);
  if (SIXTH_FIELD.test(sixth)) return { cron: spaced(`${five} ${sixth}`), rest: rest.slice(sixth.length).trimStart() };
  if (WEEKDAYS.test(sixth)) {
    throw new Error(
      `${
        JSON.stringify(sixth)
      } may be a sixth field or a command; write the weekday as a number, or the command's path`,
    );
  }
  return { cron: spaced(five!), rest };
}

function spaced(fields: string): string {
  return fields.replace(/\s+/g, " ");
}

function unquote(value: string): string {
  const quoted = /^(["'])(.*)\1$/.exec(value);
  return quoted === null ? value : quoted[2]!;
}

/** The first `%` without a backslash ends the command; those after it are line breaks in what the command reads. */
function splitPercent(text: string): readonly [command: string, stdin: string | undefined] {
  const [command, ...lines] = text.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  return [command!, lines.length === 0 ? undefined : `${lines.join("\n")}\n`];
}

/** A comment is what a shell takes for one: from a `#` that begins a word, outside of quotes, to the end. */
function splitComment(text: string): { readonly command: string; readonly comment: string } {
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "\\" && quote !== "'") i++;
    else if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === "#" && (i === 0 || /\s/.test(text[i - 1]!))) {
      return { command: text.slice(0, i).trim(), comment: text.slice(i + 1).trim() };
    }
  }
  return { command: text.trim(), comment: "" };
}
