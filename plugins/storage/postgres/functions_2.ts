import type { SchemaSettings } from "./options.ts";

const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::float8";

/**
 * The functions of schema 2, as they were released: never edited. Some are in use; others were replaced, and stay for
 * instances of that version that are still running when the store is migrated.
 */
export function functionsOf2({ schema, tablePrefix }: SchemaSettings): string {
  const own = (name: string) => `"${schema}"."${tablePrefix}${name}"`;
  const documents = own("documents");
  const list = (n: number, type: string) => `string_to_array($${n}::text, E'\\x1f', E'\\x01')::${type}[]`;
  const comment = (name: string) =>
    `comment on function ${own(name)} is 'Ostinato: a statement of the library, which calls it by this name';`;
  return `
create function ${
    own("insert")
  }(text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text, text)
returns table("version" text, "now" float8, "told" text) language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query with written as (insert into ${documents} ("id", "wake_at", "next_run", "live", "running", "progress", "name", "dedupe_key", "task", "owner", "grp", "target", "tags", "definition", "parked", lane) select u."id", u."wake_at", u."next_run", u."live", u."running", u."progress", u."name", u."dedupe_key", u."task", u."owner", u."grp", u."target", u.tags::text[], u."definition", u."parked", case when u.parked is null then case when u.live then u.task else '' end end from unnest(${
    list(1, "text")
  }, ${list(2, "timestamptz")}, ${list(3, "timestamptz")}, ${list(4, "boolean")}, ${list(5, "boolean")}, ${
    list(6, "text")
  }, ${list(7, "text")}, ${list(8, "text")}, ${list(9, "text")}, ${list(10, "text")}, ${list(11, "text")}, ${
    list(12, "text")
  }, ${list(13, "text")}, ${list(14, "text")}, ${
    list(15, "text")
  }) as u("id", "wake_at", "next_run", "live", "running", "progress", "name", "dedupe_key", "task", "owner", "grp", "target", "tags", "definition", "parked") returning 1) select pg_current_xact_id()::xid::text as version, ${NOW} as now, case when $16::text is not null
  then pg_notify($16, $17)::text end as told;
end
$$;
${comment("insert")}

create function ${own("move")}(text, text, text, text, text, text, text, int, text, text)
returns table("places" text, "written" text, "all" boolean, "version" text, "now" float8, "told" text) language plpgsql set plan_cache_mode = force_generic_plan set enable_nestloop = off as $$
#variable_conflict use_column
begin
  return query with written as (update ${documents} as d set "wake_at" = u."wake_at", "next_run" = u."next_run", "live" = u."live", "running" = u."running", "progress" = u."progress", lane = case when u.live then d.task else '' end,
    name = case when u.live then d.name end, dedupe_key = case when u.live then d.dedupe_key end from unnest(${
    list(1, "text")
  }, ${list(2, "timestamptz")}, ${list(3, "timestamptz")}, ${list(4, "boolean")}, ${list(5, "boolean")}, ${
    list(6, "text")
  }) as u("id", "wake_at", "next_run", "live", "running", "progress")
        where d.ctid = any(array(select unnest(${list(7, "tid")}))) and d.id = u.id returning d.id, d.ctid, d.running)
    select string_agg(id || E'\\x1f' || ctid, E'\\x1f') filter (where running) as places,
      case when count(*) < $8::int then string_agg(id, E'\\x1f') end as written,
      count(*) = $8::int as all, pg_current_xact_id()::xid::text as version, ${NOW} as now, case when $9::text is not null
  then pg_notify($9, $10)::text end as told
    from written;
end
$$;
${comment("move")}

create function ${own("move_at")}(text, text, text, text, text, text, text, text, text, int, text, text)
returns table("places" text, "written" text, "all" boolean, "version" text, "now" float8, "told" text) language plpgsql set plan_cache_mode = force_generic_plan set enable_nestloop = off as $$
#variable_conflict use_column
begin
  return query with written as (update ${documents} as d set "wake_at" = u."wake_at", "next_run" = u."next_run", "live" = u."live", "running" = u."running", "progress" = u."progress", lane = case when u.live then d.task else '' end,
    name = case when u.live then d.name end, dedupe_key = case when u.live then d.dedupe_key end from unnest(${
    list(1, "text")
  }, ${list(2, "timestamptz")}, ${list(3, "timestamptz")}, ${list(4, "boolean")}, ${list(5, "boolean")}, ${
    list(6, "text")
  }, ${list(7, "xid")}) as u("id", "wake_at", "next_run", "live", "running", "progress", "version")
        where d.ctid = any(array(select unnest(${
    list(8, "tid")
  }))) and d.id = u.id and d.xmin = u.version and (select set_config('lock_timeout', $9, true)) is not null returning d.id, d.ctid, d.running)
    select string_agg(id || E'\\x1f' || ctid, E'\\x1f') filter (where running) as places,
      case when count(*) < $10::int then string_agg(id, E'\\x1f') end as written,
      count(*) = $10::int as all, pg_current_xact_id()::xid::text as version, ${NOW} as now, case when $11::text is not null
  then pg_notify($11, $12)::text end as told
    from written;
end
$$;
${comment("move_at")}

create function ${own("move_free")}(text, text, text, text, text, text, text, text, float8, int, text, text)
returns table("places" text, "written" text, "all" boolean, "version" text, "now" float8, "told" text) language plpgsql set plan_cache_mode = force_generic_plan set enable_nestloop = off as $$
#variable_conflict use_column
begin
  return query with written as (update ${documents} as d set "wake_at" = u."wake_at", "next_run" = u."next_run", "live" = u."live", "running" = u."running", "progress" = u."progress", lane = case when u.live then d.task else '' end,
    name = case when u.live then d.name end, dedupe_key = case when u.live then d.dedupe_key end from unnest(${
    list(1, "text")
  }, ${list(2, "timestamptz")}, ${list(3, "timestamptz")}, ${list(4, "boolean")}, ${list(5, "boolean")}, ${
    list(6, "text")
  }, ${list(7, "xid")}) as u("id", "wake_at", "next_run", "live", "running", "progress", "version")
        where d.ctid = any(array(select ctid from ${documents} where ctid = any(array(select unnest(${
    list(8, "tid")
  }))) for update skip locked)) and d.id = u.id and d.xmin = u.version
          and (select ${NOW}) < $9::float8 returning d.id, d.ctid, d.running)
    select string_agg(id || E'\\x1f' || ctid, E'\\x1f') filter (where running) as places,
      case when count(*) < $10::int then string_agg(id, E'\\x1f') end as written,
      count(*) = $10::int as all, pg_current_xact_id()::xid::text as version, ${NOW} as now, case when $11::text is not null
  then pg_notify($11, $12)::text end as told
    from written;
end
$$;
${comment("move_free")}

create function ${own("remove_free")}(text, text, text)
returns table("removed" text) language plpgsql set plan_cache_mode = force_generic_plan set enable_nestloop = off as $$
#variable_conflict use_column
begin
  return query with removed as (
          delete from ${documents} as d using unnest(${list(1, "text")}, ${list(2, "xid")}) as u("id", "version")
            where d.ctid = any(array(select ctid from ${documents} where ctid = any(array(select unnest(${
    list(3, "tid")
  }))) for update skip locked)) and d.id = u.id and d.xmin = u.version returning d.id
        ) select string_agg(id, E'\\x1f') as removed from removed;
end
$$;
${comment("remove_free")}

create function ${own("claim")}(text, text, int, int)
returns table("id" text, "place" text, "version" text, "lane" text, "wake" float8, "definition" text, "progress" text, "parked" text, "now" float8, "next" float8, "share" int) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query with clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now),
      lanes as materialized (select lanes.lane from unnest($1::text[]) as lanes(lane) where exists (select wake_at from ${documents} where lane = lanes.lane and wake_at > $2::timestamptz and wake_at <= (select now from clock) order by wake_at limit 1)),
      share as materialized (select case when count(*) <= 1 then $3::int
        else greatest(2 * $3::int / count(*), $4::int) end as size from lanes),
      due as materialized (select found.* from lanes cross join lateral (
          select id, ctid::text as place, xmin::text as version, definition, progress, parked, lane, wake_at from ${documents}
            where lane = lanes.lane and wake_at > $2::timestamptz and wake_at <= (select now from clock)
            order by wake_at limit (select size + 1 from share) for update skip locked
        ) as found order by found.wake_at limit $3::int + 1),
      next as materialized (select min(first.wake_at) as at
        from unnest($1::text[]) as lanes(lane) cross join lateral (select wake_at from ${documents} where lane = lanes.lane and wake_at > (select now from clock) order by wake_at limit 1) as first)
      select null as id, null as place, null as version, null as lane, null::float8 as wake, null as definition,
        null as progress, null as parked,
        (extract(epoch from clock.now) * 1000)::float8 as now, (extract(epoch from next.at) * 1000)::float8 as next, share.size::int as share
      from clock cross join next cross join share
      union all
      select id, place, version, lane, (extract(epoch from wake_at) * 1000)::float8, definition, progress, parked, null, null, null from due;
end
$$;
${comment("claim")}

create function ${own("look")}(text, text, int, int)
returns table("id" text, "place" text, "version" text, "lane" text, "wake" float8, "definition" text, "progress" text, "parked" text, "now" float8, "next" float8, "share" int) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query with clock as materialized (select date_trunc('milliseconds', clock_timestamp()) as now),
      lanes as materialized (select lanes.lane from unnest($1::text[]) as lanes(lane) where exists (select wake_at from ${documents} where lane = lanes.lane and wake_at > $2::timestamptz and wake_at <= (select now from clock) order by wake_at limit 1)),
      share as materialized (select case when count(*) <= 1 then $3::int
        else greatest(2 * $3::int / count(*), $4::int) end as size from lanes),
      due as materialized (select found.* from lanes cross join lateral (
          select id, ctid::text as place, xmin::text as version, definition, progress, parked, lane, wake_at from ${documents}
            where lane = lanes.lane and wake_at > $2::timestamptz and wake_at <= (select now from clock)
            order by wake_at limit (select size + 1 from share) 
        ) as found order by found.wake_at limit $3::int + 1),
      next as materialized (select min(first.wake_at) as at
        from unnest($1::text[]) as lanes(lane) cross join lateral (select wake_at from ${documents} where lane = lanes.lane and wake_at > (select now from clock) order by wake_at limit 1) as first)
      select null as id, null as place, null as version, null as lane, null::float8 as wake, null as definition,
        null as progress, null as parked,
        (extract(epoch from clock.now) * 1000)::float8 as now, (extract(epoch from next.at) * 1000)::float8 as next, share.size::int as share
      from clock cross join next cross join share
      union all
      select id, place, version, lane, (extract(epoch from wake_at) * 1000)::float8, definition, progress, parked, null, null, null from due;
end
$$;
${comment("look")}

create function ${own("hold")}(text, text, text, text, text)
returns table("now" float8, "id" text, "place" text, "version" text, "definition" text, "progress" text, "parked" text) language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query with wanted as materialized (
      select unnest($1::text[]) as id
      union select d.id from unnest($2::text[], $3::text[]) as wanted(owner, name)
      join ${documents} as d on d."name" = wanted.name and d.owner = wanted.owner
      union select d.id from unnest($4::text[], $5::text[]) as wanted(owner, name)
      join ${documents} as d on d."dedupe_key" = wanted.name and d.owner = wanted.owner
    ), held as materialized (
      select id, ctid::text as place, xmin::text as version, definition, progress, parked from ${documents} where id = any(array(select id from wanted)) order by id for update
    )
    select ${NOW} as now, held.* from (select 1) as one left join held on true;
end
$$;
${comment("hold")}`;
}
