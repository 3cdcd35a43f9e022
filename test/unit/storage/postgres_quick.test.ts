import { expect, it } from "vitest";
import { KnownDocuments } from "../../../plugins/storage/postgres/known.ts";
import { QuickCommits } from "../../../plugins/storage/postgres/quick.ts";
import { Job } from "../../../plugins/storage/postgres/jobs.ts";
import { document, id, moved, operation } from "../../../src/testing/storage/documents.ts";

const RUN = { fence: 1, point: 0, attempt: 1, missed: 0, instance: "me", leaseUntil: 1_000, claimedAt: 0 };

it("M4 M1 what this handle writes while the time is asked for is not taken for what was decided on", async () => {
  const before = moved(document(1, 1_000), { runs: [RUN] });
  const meanwhile = moved(before, { runs: [{ ...RUN, fence: 2 }] });
  const known = new KnownDocuments();
  known.wrote(before.id, before, { version: "10", place: "(0,1)" }, 100);
  const sent: Record<string, unknown>[] = [];
  const database = {
    run(_doing: string, statement: { name: string }, values: Record<string, unknown>) {
      if (statement.name === "clock") {
        // A claim of the same instance comes in: the lease of the first run is over.
        known.wrote(before.id, meanwhile, { version: "11", place: "(0,2)" }, 100);
        return Promise.resolve([{ now: 2_000 }]);
      }
      sent.push(values);
      // As the database does where the version is another one.
      return Promise.resolve([{ places: null, written: null, all: false, version: "12", now: 2_000 }]);
    },
  };
  const quick = new QuickCommits({ read: () => undefined, answered() {} } as never, {
    database,
    statements: { clock: { name: "clock" }, progressAt: { name: "progressAt" } },
    known,
    floor: { writing: () => () => {} },
    channel: "channel",
    sender: "sender",
  } as never);
  const settle = operation({ id: id(1) }, (current) => ({ document: moved(current!, { runs: [] }), value: undefined }));
  const { pendings } = new Job([[settle]]);
  expect(await quick.commit(pendings), "it is decided anew on what is stored").toEqual(pendings);
  expect(sent).toMatchObject([{ version: "10", places: "(0,1)" }]);
});
