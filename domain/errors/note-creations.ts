import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { dailyCreations } from "../../schemas/tables/all.ts";

/** Something that was made newly for a service. */
export interface Creation {
  serviceId: string;
  kind: (typeof dailyCreations.kind.enumValues)[number];
}

/** Counts what this transaction made, for the bounds of the day. One statement; nothing is locked when nothing was made. */
export async function noteCreations(tx: Transaction, day: string, made: readonly Creation[]): Promise<void> {
  if (made.length === 0) return;
  const counts = new Map<string, Creation & { count: number }>();
  for (const each of made) {
    const key = `${each.serviceId} ${each.kind}`;
    counts.set(key, { ...each, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const rows = [...counts.values()].map(({ serviceId, kind, count }) => ({ service_id: serviceId, kind, count }));
  await tx.execute(sql`
    insert into ${dailyCreations} as counted (service_id, day, kind, count)
    select row.service_id, ${day}::date, row.kind, row.count
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (service_id uuid, kind text, count integer)
    order by row.service_id, row.kind
    on conflict (service_id, day, kind) do update set count = counted.count + excluded.count`);
}
