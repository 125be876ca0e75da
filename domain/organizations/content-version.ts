import type { Database } from "../../platform/postgres/database.ts";

/** One short statement: it stands before every answer that is kept. */
const VERSION = "select coalesce(sum(version), 0)::text as version from content_versions where organization_id = $1";

/**
 * What the organization's services and incidents are at: another text after every committed change of them, from whatever process.
 * What is read after this is at least as new.
 */
export async function readContentVersion(database: Database, organizationId: string): Promise<string> {
  const { rows } = await database.$client.query<{ version: string }>({ text: VERSION, values: [organizationId] });
  return rows[0]!.version;
}
