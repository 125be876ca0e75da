import type { Client } from "pg";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { postgresCode } from "./database.ts";

/** The roles that privileges and policies name. Nobody logs in as one: logins are members. */
export const GROUPS = { application: "pharos_application", tenant: "pharos_tenant" } as const;

/** Makes the groups where they are missing. Roles belong to the whole server, so another database's Pharos may have made them, also at this moment. */
export async function makeGroups(client: Client): Promise<void> {
  for (const group of Object.values(GROUPS)) {
    const { rowCount } = await client.query("select from pg_roles where rolname = $1", [group]);
    if (rowCount !== 0) continue;
    await client.query(`create role ${group} nologin`).catch((error: unknown) => {
      // Made by another meanwhile.
      if (postgresCode(error) === "42710" || postgresCode(error) === "23505") return;
      if (postgresCode(error) !== "42501") throw error;
      throw new StartFailure(`User "${client.user}" of DATABASE_URL may not create the role ${group}.`, {
        fix: `Give it the right (alter role "${client.user}" createrole), or make the roles yourself: deploy/production.md has the statements.`,
      });
    });
  }
}

/**
 * Tables and functions belong to who migrates. The application reads and writes the rows of all organizations, by a policy of
 * its own where row-level security holds; migrations say what tenants may. A function that runs with its owner's rights never
 * looks into a caller's temporary tables, and nobody but the owner adds anything.
 */
const GRANTS = `
DO $$
DECLARE
  ours oid := (SELECT relowner FROM pg_class WHERE oid = 'organizations'::regclass);
  here text := (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'organizations'::regclass);
  each record;
BEGIN
  IF NOT has_schema_privilege('pharos_application', here, 'USAGE') THEN EXECUTE format('GRANT USAGE ON SCHEMA %s TO pharos_application', here); END IF;
  FOR each IN SELECT c.oid, c.oid::regclass AS name, c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = 'application') AS closed
    FROM pg_class AS c WHERE c.relnamespace = here::regnamespace AND c.relowner = ours AND c.relkind IN ('r', 'p') ORDER BY c.oid
  LOOP
    IF NOT has_table_privilege('pharos_application', each.oid, 'DELETE') THEN EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO pharos_application', each.name); END IF;
    IF each.closed THEN EXECUTE format('CREATE POLICY application ON %s TO pharos_application USING (true)', each.name); END IF;
  END LOOP;
  FOR each IN SELECT oid, oid::regclass AS name FROM pg_class WHERE relnamespace = here::regnamespace AND relowner = ours AND relkind = 'S' LOOP
    IF NOT has_sequence_privilege('pharos_application', each.oid, 'USAGE') THEN EXECUTE format('GRANT USAGE ON SEQUENCE %s TO pharos_application', each.name); END IF;
  END LOOP;
  -- pharos_organization says the schema of each name instead.
  FOR each IN SELECT oid::regprocedure AS name FROM pg_proc
    WHERE pronamespace = here::regnamespace AND proowner = ours AND prosecdef AND proname <> 'pharos_organization' AND coalesce(array_to_string(proconfig, ' '), '') !~ 'pg_temp$'
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', each.name, here);
  END LOOP;
  -- Both are everybody's on servers, or in databases, that keep the defaults of older ones. Who may not take a right away is warned by PostgreSQL.
  IF has_schema_privilege('pharos_tenant', here, 'CREATE') THEN EXECUTE format('REVOKE CREATE ON SCHEMA %s FROM PUBLIC', here); END IF;
  IF has_database_privilege('pharos_tenant', current_database(), 'TEMPORARY') THEN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END IF;
  -- Who reads the names of prepared statements could put another in place of ours. Only the
  -- owner of the catalogs may take this away; without it, connections are emptied of them.
  IF has_function_privilege('pharos_tenant', 'pg_prepared_statement()', 'EXECUTE') THEN
    BEGIN
      REVOKE EXECUTE ON FUNCTION pg_prepared_statement() FROM PUBLIC;
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
  END IF;
  FOR each IN SELECT name FROM unnest(ARRAY['pharos_application', 'pharos_tenant']) AS name WHERE NOT has_database_privilege(name, current_database(), 'CONNECT') LOOP
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), each.name);
  END LOOP;
END $$`;

/** Brings what each group may do up to date; changes nothing where it is. Warns when tenants keep a right that they need not have. */
export async function grantPrivileges(client: Client, log: Log): Promise<void> {
  await client.query(GRANTS);
  const { rows: [kept] } = await client.query<{ temporary: boolean; database: string }>("select has_database_privilege($1, current_database(), 'TEMPORARY') as temporary, current_database() as database", [GROUPS.tenant]);
  if (kept!.temporary) log.warn(`every user may make temporary tables in database "${kept!.database}"; its owner takes that away with: revoke temporary on database "${kept!.database}" from public`);
}
