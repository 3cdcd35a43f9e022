import { sql } from "kysely";
import { value } from "../sql/statement.ts";
import { type Kept, kept } from "./functions.ts";
import type { SchemaSettings } from "./options.ts";
import type { ClaimHead, DueParameters, DueRow } from "./statements.ts";
import { type Compile, list, ms, nearMs, type Query, WITHOUT_SCANS, WORK } from "./sql_parts.ts";

/** What finds what is due. */
export interface KeptDue {
  readonly claim: Kept<DueParameters, ClaimHead | DueRow>;
  /** The same, and locks nothing. */
  readonly look: Kept<DueParameters, ClaimHead | DueRow>;
}

const ANSWERS = {
  id: "text",
  place: "text",
  version: "text",
  lane: "text",
  wake: "float8",
  definition: "text",
  progress: "text",
  parked: "text",
  now: "float8",
  next: "float8",
  share: "int",
};

/** The statements that find what is due. */
export function keptDue(compile: Compile, settings: SchemaSettings, documents: Query): KeptDue {
  const found = { answers: ANSWERS, without: WITHOUT_SCANS };
  return {
    claim: kept(compile, settings, { name: "due_locked", ...found }, due(documents, sql`for update skip locked`)),
    look: kept(compile, settings, { name: "due", ...found }, due(documents, sql``)),
  };
}

/**
 * What is due: every look begins at one lane's end of the index, so that a backlog elsewhere costs nothing. As statements
 * one after another, because each time rows are handed on within one they are copied; where one lane has something due,
 * they come in order. What comes next is looked for only where nothing is left.
 */
function due(documents: Query, lock: Query): Query {
  const lanes = sql`unnest(${list("lanes")}) as lanes(lane)`;
  const limit = value("limit");
  const wakes = (when: Query) =>
    sql`select wake_at from ${documents} where lane = lanes.lane and ${when} order by wake_at limit 1`;
  const isDue = sql`wake_at > _after and wake_at <= _now`;
  const rows = (lane: Query) =>
    sql`select ${WORK}, lane, wake_at from ${documents} where lane = ${lane} and ${isDue}
      order by wake_at limit _share + 1 ${lock}`;
  const answer = sql`id, place, version, lane, ${nearMs(sql`wake_at`)}, definition, progress, parked,
      null::float8, null::float8, null::int`;
  return sql`declare
  _after constant timestamptz := ${value("after")};
  _now constant timestamptz := date_trunc('milliseconds', clock_timestamp());
  _lanes constant text[] := array(select lanes.lane from ${lanes} where exists (${wakes(isDue)}));
  _share constant int := case when cardinality(_lanes) <= 1 then ${limit}
    else greatest(2 * ${limit} / cardinality(_lanes), ${value("least")}) end;
  _found int;
  _next timestamptz;
begin
  if cardinality(_lanes) = 1 then
    return query select ${answer} from (${rows(sql`_lanes[1]`)}) as found;
  else
    return query select ${answer} from (
      select found.* from unnest(_lanes) as lanes(lane) cross join lateral (${rows(sql`lanes.lane`)}) as found
        order by found.wake_at limit ${limit} + 1
    ) as found;
  end if;
  get diagnostics _found = row_count;
  if _found <= ${limit} then
    select min(first.wake_at) into _next from ${lanes} cross join lateral (${wakes(sql`wake_at > _now`)}) as first;
  end if;
  return query select null, null, null, null, null::float8, null, null, null,
    ${ms(sql`_now`)}, ${ms(sql`_next`)}, _share;
end`;
}
