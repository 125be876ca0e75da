import { makeLoadTogether } from "../../platform/load-together.ts";
import type { Database } from "../../platform/postgres/database.ts";

/** What organizations' services and incidents are at. */
export interface ContentVersions {
  /**
   * Another text after every committed change, from whatever process; what is read after this is
   * at least as new. Rejects as Postgres does.
   */
  read(organizationId: string): Promise<string>;
}

/** Stands before every answer that is kept, so all who ask within this time share a statement. */
const PAUSE_MS = 2;

/** No bound of its own: who asks has been counted, and waits here with a few bytes. */
const MAX_LOADS = Infinity;

/** Of an organization whose content was never changed. */
const UNCHANGED = "0";

const VERSIONS = `select organization_id as id, sum(version)::text as version from content_versions
  where organization_id = any($1::uuid[]) group by organization_id`;

/**
 * Those who ask at about the same time share one statement, whichever organization they ask for,
 * but never one that had begun before they asked: it could have been answered before a change
 * that they know of. `database` is that of all organizations.
 */
export function makeContentVersions(database: Database): ContentVersions {
  async function load(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await database.$client.query<{ id: string; version: string }>({ text: VERSIONS, values: [ids] });
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  const readings = makeLoadTogether({ load, fresh: true, maxLoads: MAX_LOADS, pauseMs: PAUSE_MS });
  return {
    async read(organizationId) {
      return (await readings.load(organizationId)) ?? UNCHANGED;
    },
  };
}
