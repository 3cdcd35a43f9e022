import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migrate } from "../../plugins/storage/sqlite/schema.ts";
import type { Statement } from "../../plugins/storage/sql/statement.ts";
import { compileStatements, type FindCondition } from "../../plugins/storage/sqlite/statements.ts";

const database = new DatabaseSync(":memory:");
migrate(database, "ostinato_");
const statements = compileStatements("ostinato_");

/** How SQLite would look for the rows of the table, one line for each look. */
function plan({ query }: Statement<never, unknown>): string[] {
  const rows = database.prepare(`explain query plan ${query.sql}`).all(...query.parameters.map(() => null));
  return rows.map((row) => String(row["detail"])).filter((line) => /ostinato_schedules|\bs\b/.test(line));
}

/** The indexes that a statement may change; that of the ids only finds the row. */
function written({ query }: Statement<never, unknown>): string[] {
  const names = new Map(
    database.prepare("select rootpage, name from sqlite_schema where rootpage > 0").all()
      .map(({ rootpage, name }) => [rootpage, String(name)]),
  );
  return database.prepare(`explain ${query.sql}`).all(...query.parameters.map(() => null))
    .filter(({ opcode }) => opcode === "OpenWrite").map(({ p2 }) => names.get(p2!)!).filter((name) =>
      name.startsWith("ostinato_schedules_")
    ).sort();
}

describe("sqlite: the work of a query does not grow with what is stored", () => {
  it.each(
    [
      "byId",
      "byName",
      "byKey",
      "whole",
      "earliest",
      "due",
      "dueIds",
      "backlog",
      "step",
      "stay",
      "progress",
      "remove",
    ] as const,
  )(
    "%s searches an index",
    (name) => {
      const looks = plan(statements[name] as Statement<never, unknown>);
      expect(looks.length).toBeGreaterThan(0);
      for (const look of looks) expect(look).toMatch(/^SEARCH /);
    },
  );

  it("a step touches the index of deadlines only where its wake_at changes, and no index of what never changes", () => {
    const running = "ostinato_schedules_running";
    expect(written(statements.stay as Statement<never, unknown>)).toEqual([running]);
    expect(written(statements.step as Statement<never, unknown>)).toEqual([running, "ostinato_schedules_wake"]);
  });

  it("what is due is found in the index of deadlines alone", () => {
    for (const name of ["earliest", "backlog"] as const) {
      for (const look of plan(statements[name] as Statement<never, unknown>)) {
        expect(look).toContain("USING COVERING INDEX ostinato_schedules_wake");
      }
    }
    expect(plan(statements.due as Statement<never, unknown>).join("\n")).toContain(
      "USING COVERING INDEX ostinato_schedules_wake (lane=? AND wake_at<?)",
    );
  });

  it.each([
    [["target"], "target"],
    [["target", "after"], "target"],
    [["group"], "group"],
    [["task"], "task"],
    [["task", "after"], "task"],
    [["name"], "name"],
    [["owner", "name"], "name"],
    [["owner", "foreign"], "owner"],
    [["running"], "running"],
  ] as [FindCondition[], string][])("V3 a list by %s searches an index", (conditions, index) => {
    const looks = plan(statements.find(conditions) as Statement<never, unknown>).join("\n");
    expect(looks).toContain(`INDEX ostinato_schedules_${index}`);
  });

  it("V3 a list reads no more than its page: it comes in order of id from its index", () => {
    const lists: FindCondition[][] = [[], ["after"], ["target"], ["group", "after"], ["task"], ["owner", "foreign"]];
    for (const conditions of lists) {
      const { query } = statements.find(conditions);
      const rows = database.prepare(`explain query plan ${query.sql}`).all(...query.parameters.map(() => null));
      expect(rows.map((row) => row["detail"]).join("\n"), conditions.join()).not.toContain("TEMP B-TREE");
    }
  });
});
