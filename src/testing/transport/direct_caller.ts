import type { RemoteClient, Schedule, ScheduleClient, TransactionClient, TransactionStep } from "../../contract/mod.ts";

/**
 * A scheduler's own calls in the shape of a transport's. Where the two differ it does with the scheduler's calls what
 * the transport's promises: a list of steps is made in one transaction.
 */
export function directCaller(client: ScheduleClient): RemoteClient {
  const changed = {
    nextRuns: async (...parameters: Parameters<ScheduleClient["nextRuns"]>) =>
      await new Promise<Date[]>((resolve) => resolve(client.nextRuns(...parameters))),
    transaction: (steps: readonly TransactionStep[]) =>
      client.transaction(async (tx) => {
        const answers: (Schedule | boolean)[] = [];
        for (const step of steps) answers.push(await take(tx, step));
        return answers;
      }),
  };
  return new Proxy(client as unknown as RemoteClient, {
    get(target, key) {
      if (Object.hasOwn(changed, key)) return changed[key as keyof typeof changed];
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

async function take(tx: TransactionClient, step: TransactionStep): Promise<Schedule | boolean> {
  if ("create" in step) return (await tx.createMany([step.create]))[0]!;
  if ("update" in step) return await tx.update(step.update, step.to);
  if ("stop" in step) return await tx.stop(step.stop, { abortRunning: step.abortRunning === true });
  if ("pause" in step) return await tx.pause(step.pause);
  if ("resume" in step) return await tx.resume(step.resume);
  return await tx.trigger(step.trigger);
}
