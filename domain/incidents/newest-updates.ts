import { sql, type SQL } from "drizzle-orm";
import { isoText } from "../../platform/postgres/iso-text.ts";
import { UPDATES_SHOWN } from "../../schemas/plans.ts";
import { incidentUpdates, maintenanceUpdates } from "../../schemas/tables/all.ts";

interface Updates {
  table: typeof incidentUpdates | typeof maintenanceUpdates;
  /** The column that says of what they are. */
  key: SQL;
}

export const OF_INCIDENTS: Updates = { table: incidentUpdates, key: sql`incident_id` };
export const OF_WINDOWS: Updates = { table: maintenanceUpdates, key: sql`maintenance_window_id` };

/** The fields of an update `said`, as the API shows it. */
const SHOWN = sql`json_build_object('id', said.id, 'status', said.status, 'message', said.message,
  'created_at', ${isoText(sql`said.created_at`)})`;

/**
 * A select of `of`, `updates` and `total` for each of a `page (id, nth)` that has any: its newest updates as JSON,
 * the newest first, and how many it has. Where their texts are too long, it shows fewer; where those of
 * the page are, the later ones of the page show fewer. Each shows its newest.
 */
export function newestUpdates({ table, key }: Updates): SQL {
  const { number, bytesOfOne, bytesOfAll } = UPDATES_SHOWN;
  return sql`
    select said.of, json_agg(${SHOWN} order by said.created_at desc, said.id desc) as updates,
      -- Who shows all has been counted.
      case when max(said.seen) <= ${number} then max(said.seen)
        else (select count(*) from ${table} as each where each.${key} = said.of) end::int as total
    from (
      select page.id as of, newest.*, sum(newest.bytes) over (order by page.nth, newest.place) as bytes_of_all
      from page cross join lateral (
        -- octet_length knows the length without fetching the text.
        select *, count(*) over () as seen, octet_length(message) as bytes, row_number() over newest as place,
          sum(octet_length(message)) over newest as bytes_of_one
        from (select id, status, message, created_at from ${table} as each where each.${key} = page.id
          order by each.created_at desc, each.id desc limit ${number + 1}) as each
        window newest as (order by each.created_at desc, each.id desc)
      ) as newest
      where place = 1 or (place <= ${number} and bytes_of_one <= ${bytesOfOne})
    ) as said
    where place = 1 or bytes_of_all <= ${bytesOfAll}
    group by said.of`;
}

/** All updates of one, as JSON text of an array: a page of them, newest first. */
export function updatesPage({ table, key }: Updates, id: string, { limit, offset }: { limit: number; offset: number }): SQL {
  return sql`
    select coalesce(json_agg(${SHOWN} order by said.created_at desc, said.id desc), '[]') as updates,
      (select count(*)::int from ${table} as each where each.${key} = ${id}) as total
    from (select * from ${table} as each where each.${key} = ${id}
      order by each.created_at desc, each.id desc limit ${limit} offset ${offset}) as said`;
}
