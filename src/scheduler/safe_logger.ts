import type { Logger } from "../contract/mod.ts";
import { isThenable } from "../contract/thenable.ts";

/** A logger that cannot fail: one that throws, or whose promise is rejected, must not end a run or the process. */
export function safeLogger(logger: Logger): Logger {
  const safe = (level: keyof Logger): Logger[keyof Logger] => (message, ...details) => {
    try {
      const answer: unknown = logger[level](message, ...details);
      if (isThenable(answer)) answer.then(undefined, () => {});
    } catch {
      // There is nobody left to tell.
    }
  };
  return { error: safe("error"), warn: safe("warn"), info: safe("info"), debug: safe("debug") };
}
