import { MAX_HISTORY, MAX_INPUT_BYTES, MAX_STATE_BYTES, type PastRun, writeHistory } from "../../contract/mod.ts";
import { equal } from "../assert.ts";
import { count, document, id, operation, store } from "./documents.ts";
import type { StorageCase } from "./types.ts";

/** Texts that stores have cut, refused, replaced or mistaken for one another. */
const HOSTILE_TEXTS: readonly string[] = [
  "plain",
  "\u0000",
  "a\u0000b",
  "a\u0000c",
  "a",
  "a\\u0000b",
  "\ud800",
  "\udfff",
  "\ufffd",
  "x\ud800y",
  "x\ufffdy",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "'; drop table schedules; --",
  '"quoted"',
  "back\\slash",
  "%_*?[",
  "new\nline\r\ttab",
  " leading and trailing ",
  "é",
  "e\u0301",
  "ß",
  "SS",
  "null",
  "1",
  "🎵".repeat(100),
  "\u2028\u2029\ufeff",
  "room:42",
  "room:42:",
];

/** Texts and sizes: nothing is cut, replaced or mistaken for another. */
export const textCases: readonly StorageCase[] = [
  {
    name: "S4 texts: hostile ones survive in every field",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      const documents = HOSTILE_TEXTS.map((text, n) =>
        document(n, 5_000 + n, {
          definition: {
            task: text,
            owner: text,
            authority: { id: text },
            runAs: text,
            name: text,
            key: text,
            group: text,
            target: text,
            tags: [text],
            input: JSON.parse(`{"__proto__": 1, "text": ${JSON.stringify(text)}, ${JSON.stringify(text)}: [0]}`),
            state: text,
          },
          progress: { lastFault: { name: text, message: text, stack: text, cause: text, at: 1 } },
        })
      );
      await store(a, documents);
      for (const expected of documents) equal(await b.get(expected.id), expected, expected.definition.task);
    },
  },
  {
    name: "S4 texts: hostile ones are told apart by every look-up and in every lane",
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      await store(
        a,
        HOSTILE_TEXTS.map((text, n) =>
          document(n, 5_000 + n, {
            definition: { task: text, owner: text, name: text, key: text, group: text, target: text, tags: [text] },
          })
        ),
      );
      for (const [n, text] of HOSTILE_TEXTS.entries()) {
        const what = JSON.stringify(text);
        for (const key of ["owner", "task", "name", "group", "target", "tag"] as const) {
          const ids = (await b.find({ [key]: text, limit: 10 })).map((found) => found.id);
          equal(ids, [id(n)], `find by ${key} ${what}`);
        }
        for (const select of [{ owner: text, name: text }, { owner: text, key: text }]) {
          const [result] = await b.apply([[operation(select, (current) => ({ value: current?.id }))]], 1_000);
          equal(result, { committed: true, values: [id(n)] }, `apply by ${Object.keys(select)[1]} ${what}`);
        }
        equal(await b.nextWake([text]), 5_000 + n, `lane ${what}`);
      }
      const tasks = (await b.backlog(0, 10)).map((lane) => lane.task).sort();
      equal(tasks, [...HOSTILE_TEXTS].sort(), "lanes of the backlog");
      const moved = await b.advance({ lanes: HOSTILE_TEXTS, limit: 100, now: 9_000 }, (current) => ({
        document: null,
        value: current.definition.task,
      }));
      equal([...moved.values].sort(), [...HOSTILE_TEXTS].sort(), "tasks advanced");
    },
  },
  {
    name: "S3 sizes: the largest input, state and history that may be stored come back whole",
    async run({ open }) {
      const storage = await open();
      const history = writeHistory(
        count(MAX_HISTORY).map((n): PastRun => ({
          fence: n + 1,
          point: n,
          startedAt: n,
          endedAt: n,
          attempt: 1,
          outcome: "faulted",
          instance: "instance",
          fault: "é".repeat(99),
        })),
      );
      const large = document(1, 5_000, {
        definition: { input: "x".repeat(MAX_INPUT_BYTES - 2), state: "é".repeat(MAX_STATE_BYTES / 2 - 1) },
        progress: { history, sketch: "s".repeat(1_024) },
      });
      const bytes = new TextEncoder().encode(JSON.stringify(large)).length;
      if ((storage.supports.maxDocumentBytes ?? Infinity) < bytes) return;
      await store(storage, [large]);
      equal(await storage.get(id(1)), large, "the document");
    },
  },
];
