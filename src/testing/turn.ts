/** One turn of the event loop; real, so that promises and real stores get theirs. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
    if (setImmediate !== undefined) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
