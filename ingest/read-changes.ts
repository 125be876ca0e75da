import { sql } from "drizzle-orm";
import type { Queries } from "../platform/postgres/database.ts";
import { apiKeys, beaconKeys, heartbeatMonitors, organizations, removals } from "../schemas/tables/all.ts";

/** Ids of rows that changed, by what they are; what was removed is a service or a beacon key. */
export interface Changes {
  apiKeys: string[];
  beaconKeys: string[];
  monitors: string[];
  organizations: string[];
  removed: string[];
}

/** Reads what changed since the last call that succeeded. */
export type ReadChanges = () => Promise<Changes>;

/**
 * A row is stamped when it is written and seen when its transaction commits, which may be this much
 * later: Pharos' own transactions end after 30 s at the latest. So everything stamped within this
 * time is looked at each time.
 */
const COMMITS_WITHIN = sql`interval '1 minute'`;

interface ChangedRow extends Record<string, unknown> {
  kind: keyof Changes | "now";
  id: string | null;
  at: string;
}

/**
 * One statement a call, by the indexes of the stamps. Each change is told once, by its id and its
 * stamp; at the first call those of the last minute.
 */
export function makeReadChanges(database: Queries): ReadChanges {
  /** The changes of the window that were told, with their stamps. */
  let told = new Map<string, string>();
  /** By the database's clock. */
  let readAt: string | null = null;

  return async () => {
    const since = sql`coalesce(${readAt}::timestamptz, statement_timestamp()) - ${COMMITS_WITHIN}`;
    const { rows } = await database.execute<ChangedRow>(sql`
      select 'now' as kind, null::uuid as id, statement_timestamp()::text as at
      union all select 'apiKeys', id, changed_at::text from ${apiKeys} where changed_at > ${since}
      union all select 'beaconKeys', id, changed_at::text from ${beaconKeys} where changed_at > ${since}
      union all select 'monitors', id, changed_at::text from ${heartbeatMonitors} where changed_at > ${since}
      union all select 'organizations', id, updated_at::text from ${organizations} where updated_at > ${since}
      union all select 'removed', id, removed_at::text from ${removals} where removed_at > ${since}`);
    const changes: Changes = { apiKeys: [], beaconKeys: [], monitors: [], organizations: [], removed: [] };
    const inWindow = new Map<string, string>();
    for (const { kind, id, at } of rows) {
      if (kind === "now" || id === null) {
        readAt = at;
        continue;
      }
      const name = `${kind}/${id}`;
      inWindow.set(name, at);
      if (told.get(name) !== at) changes[kind].push(id);
    }
    told = inWindow;
    return changes;
  };
}
