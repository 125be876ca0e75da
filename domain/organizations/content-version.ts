import type { Database } from "../../platform/postgres/database.ts";

/** What organizations' services and incidents are at. */
export interface ContentVersions {
  /**
   * Another text after every committed change, from whatever process; what is read after this is at least as new. `database` is
   * the organization's own.
   */
  read(database: Database, organizationId: string): Promise<string>;
}

/** One short statement: it stands before every answer that is kept. */
const VERSION = "select coalesce(sum(version), 0)::text as version from content_versions where organization_id = $1";

interface Reading {
  now: Promise<string>;
  /** Begins when `now` has ended, for all who came after it had begun. */
  next: Promise<string> | null;
}

/**
 * Those who ask at the same time share one statement, but never one that had begun before they asked: it could have been
 * answered before a change that they know of.
 */
export function makeContentVersions(): ContentVersions {
  const readings = new Map<string, Reading>();

  function begin(database: Database, organizationId: string): Promise<string> {
    const reading: Reading = { now: ask(database, organizationId), next: null };
    readings.set(organizationId, reading);
    const end = (): void => {
      if (readings.get(organizationId) === reading) readings.delete(organizationId);
    };
    reading.now.then(end, end);
    return reading.now;
  }

  return {
    read(database, organizationId) {
      const reading = readings.get(organizationId);
      if (!reading) return begin(database, organizationId);
      const again = (): Promise<string> => begin(database, organizationId);
      return (reading.next ??= reading.now.then(again, again));
    },
  };
}

async function ask(database: Database, organizationId: string): Promise<string> {
  const { rows } = await database.$client.query<{ version: string }>({ text: VERSION, values: [organizationId] });
  return rows[0]!.version;
}
