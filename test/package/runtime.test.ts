import process from "node:process";
import { decodeTime, ulid } from "@std/ulid";
import { expect, it } from "vitest";

it("the tests run on the runtime that started the suite", () => {
  expect("Deno" in globalThis ? "deno" : "node").toBe(process.env["SUITE_RUNTIME"]);
});

it("the library behind @std/ulid resolves to an id whose time can be read back", () => {
  expect(decodeTime(ulid(1_767_225_600_000))).toBe(1_767_225_600_000);
});
