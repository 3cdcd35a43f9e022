import type { LaneBacklog, TaskBacklog } from "../contract/mod.ts";

/** What one store told, as of its own time. */
export interface StoreBacklog {
  readonly now: number;
  readonly lanes: readonly LaneBacklog[];
}

/** What stores hold that is due, by task. The records of retired schedules wait for nobody and are left out. */
export function mergeBacklog(
  stores: readonly StoreBacklog[],
  limit: number,
  isRegistered: (task: string) => boolean,
): readonly TaskBacklog[] {
  const tasks = new Map<string, TaskBacklog>();
  for (const { now, lanes } of stores) {
    for (const { task, due, earliest } of lanes) {
      if (task === "") continue;
      const { due: before = 0, oldest = null } = tasks.get(task) ?? {};
      const instants = [...(oldest === null ? [] : [oldest.getTime()]), ...(earliest <= now ? [earliest] : [])];
      tasks.set(task, {
        task,
        registered: isRegistered(task),
        due: Math.min(limit, before + due),
        oldest: instants.length === 0 ? null : new Date(Math.min(...instants)),
      });
    }
  }
  return [...tasks.values()].sort((a, b) => a.task < b.task ? -1 : 1);
}
