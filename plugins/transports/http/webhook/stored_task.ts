import { FaultError, type RetryOption, type ScheduleDocument, show, type Task } from "../../../../src/contract/mod.ts";
import type { Delivery } from "./delivery.ts";
import { ROTATION_MS } from "./limits.ts";
import { readRecord } from "./record.ts";
import { deriveSecret, readSecrets, type SigningKey } from "./signing.ts";
import { type CheckedDestinations, readUrl } from "./target.ts";
import { readTimeout, runDelivery } from "./task.ts";

/** What all webhooks of a plugin share. */
export interface StoredTaskParts {
  /** What secrets are derived from; the first gives them, all sign. */
  readonly masters: readonly SigningKey[];
  readonly destinations: CheckedDestinations;
}

/** The task that a webhook's record stands for; each run goes by the record as it is then. */
export function storedTask(
  { definition }: ScheduleDocument,
  current: () => Promise<ScheduleDocument | undefined>,
  parts: StoredTaskParts,
): Task | undefined {
  const name = definition.tags?.[0];
  if (name === undefined || readRecord(definition.input) === undefined) return undefined;
  const { retry } = definition.options as { readonly retry?: RetryOption };
  return {
    name,
    ...(retry === undefined ? {} : { retry }),
    async run(input, context) {
      const record = await current();
      const delivery = record && await deliveryOf(name, record, parts);
      if (delivery === undefined) throw new FaultError(`webhook ${show(name)}: it was deleted`, { retry: false });
      return await runDelivery(delivery, name, input, context);
    },
  };
}

async function deliveryOf(
  name: string,
  { id, definition }: ScheduleDocument,
  { masters, destinations }: StoredTaskParts,
): Promise<Delivery | undefined> {
  const record = readRecord(definition.input);
  if (record === undefined) return undefined;
  const { url, timeout, version, rotatedAt } = record;
  const isRotating = rotatedAt !== undefined && Date.now() - Date.parse(rotatedAt) < ROTATION_MS;
  const versions = isRotating ? [version, version - 1] : [version];
  const secrets = await Promise.all(
    masters.flatMap((master) => versions.map((one) => deriveSecret(master, labelOf(id, one)))),
  );
  const where = `webhook ${name}`;
  return {
    url: readUrl(url, destinations, where),
    destinations,
    keys: secrets.flatMap((secret) => readSecrets(secret, where)),
    timeoutMs: readTimeout(timeout, where),
  };
}

/** What a secret is derived from: an id is never used again, so a webhook that is made anew has another secret. */
export function labelOf(id: string, version: number): string {
  return `webhook.${id}.${version}`;
}
