import { sql } from "drizzle-orm";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import type { Database } from "./database.ts";

/** What a setting puts at risk when it is off. */
const RISKS: Record<string, string> = {
  fsync: "may lose or damage the whole database when the power fails",
  full_page_writes: "may damage pages that are half written when the power fails",
  synchronous_commit: "may lose confirmed transactions when the power fails",
};

/**
 * Throws StartFailure when PostgreSQL, as `database` connects to it, may lose confirmed transactions with the power:
 * fsync, full_page_writes or synchronous_commit is off. Every other synchronous_commit has a commit on the primary's
 * disk: `remote_write`, `on` and `remote_apply` beside that with the synchronous standby; `local` leaves the standby out,
 * so it is only warned of, where one is named. `DATABASE_URL`'s own `options` count, because they are the session's.
 */
export async function checkPostgresDurability(database: Database, log: Log): Promise<void> {
  const { rows } = await database.execute<{ name: string; setting: string; database: string }>(sql`
    select name, setting, current_database() as database from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`);
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  const weak = Object.keys(RISKS).find((name) => settings.get(name) === "off");
  if (weak !== undefined) {
    throw new StartFailure(`PostgreSQL ${RISKS[weak]!}: ${weak} is off for database "${rows[0]!.database}" and must be on.`, {
      fix: fixOf(weak, rows[0]!.database),
    });
  }
  if (settings.get("synchronous_commit") === "local" && settings.get("synchronous_standby_names") !== "") {
    log.warn("synchronous_commit is local although PostgreSQL has a synchronous standby: what was confirmed may be lost with the primary's machine");
  }
}

/** A session's setting may come from the database or the user before it comes from the server. */
function fixOf(setting: string, database: string): string {
  const onServer = `ALTER SYSTEM SET ${setting} = on; SELECT pg_reload_conf();`;
  if (setting !== "synchronous_commit") return `Run ${onServer}`;
  return `Run ALTER DATABASE "${database.replaceAll('"', '""')}" SET synchronous_commit = on; and see that neither the user nor DATABASE_URL sets another.`;
}
