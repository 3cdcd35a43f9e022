import { describe, expect, it } from "vitest";
import { DocumentCache } from "../../../plugins/storage/sqlite/document_cache.ts";
import { document, id } from "../../../src/testing/storage/documents.ts";

describe("DocumentCache", () => {
  it("keeps what was set latest, within its room", () => {
    const cache = new DocumentCache(1_000);
    for (let n = 0; n < 1_000; n++) cache.set(document(n, 5_000), 50, 50);
    const kept = Array.from({ length: 1_000 }, (_, n) => n).filter((n) => cache.get(id(n)) !== undefined);
    expect(kept.length).toBeGreaterThanOrEqual(5);
    expect(kept.length).toBeLessThanOrEqual(10);
    expect(kept.at(-1)).toBe(999);
  });

  it("does not count a document twice that is set again and again", () => {
    const cache = new DocumentCache(1_000);
    cache.set(document(1, 5_000), 50, 50);
    for (let n = 0; n < 1_000; n++) cache.set(document(2, n), 50, 50);
    expect(cache.get(id(1))).toBeDefined();
    expect(cache.get(id(2))?.progress.wakeAt).toBe(999);
  });

  it("remembers a definition's size where only the progress was written", () => {
    const cache = new DocumentCache(1_000);
    cache.set(document(1, 5_000), 10, 400);
    cache.set(document(1, 6_000), 10);
    cache.set(document(2, 5_000), 10, 400);
    cache.set(document(3, 5_000), 10, 400);
    expect([1, 2, 3].map((n) => cache.get(id(n)) !== undefined)).toEqual([false, true, true]);
  });

  it("forgets one, and all", () => {
    const cache = new DocumentCache(1_000);
    for (const n of [1, 2]) cache.set(document(n, 5_000), 10, 10);
    cache.delete(id(1));
    expect([1, 2].map((n) => cache.get(id(n)) !== undefined)).toEqual([false, true]);
    cache.clear();
    expect(cache.get(id(2))).toBeUndefined();
  });
});
