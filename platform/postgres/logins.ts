import { createHmac, createHash, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Client } from "pg";
import type { Log } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { postgresCode } from "./database.ts";
import { asOwner, makeClient, reasonOf, unreachable } from "./owner.ts";
import { GROUPS } from "./privileges.ts";

/** How the service reaches its database. Each holds a password. */
export interface Logins {
  /** For what crosses organizations; no superuser, and owner of nothing. */
  application: string;
  /** For what is done for one organization, behind row-level security. */
  tenant: string;
  /** Proves to the database which organization a tenant's connection is bound to. */
  tenantKey: Buffer;
  /**
   * The tenants' sessions cannot read the names of their prepared statements, so these may stay
   * when a connection goes from one organization to another.
   */
  statementsAreHidden: boolean;
}

interface LoginNeeds {
  /** Of the tables' owner, who may create roles. The tables are migrated. */
  url: string;
  /** Of logins that the operator made; both or none. */
  given?: { application: string; tenant: string } | null;
  log: Log;
}

type Kind = keyof typeof GROUPS;

/**
 * The two logins of the service. Without given ones they are made beside the tables' owner, with passwords that follow from a
 * key that the owner alone reads, so that every process finds the same ones. Each is tried, and refused with a StartFailure when it
 * may do more than it should: a superuser, one past row-level security, a member of other roles, or the owner of the tables.
 */
export async function prepareLogins({ url, given = null, log }: LoginNeeds): Promise<Logins> {
  return asOwner(url, log, async (owner) => {
    const { rows: [facts] } = await owner.query<{ tenant: Buffer; logins: Buffer; database: string; hidden: boolean }>(
      `select (select key from pharos_private.tenant_key) as tenant, (select key from pharos_private.login_key) as logins, current_database() as database,
         not has_function_privilege('${GROUPS.tenant}', 'pg_prepared_statement()', 'execute') as hidden`,
    );
    const addressOf = async (kind: Kind) => (given ? useLogin(owner, kind, given[kind]) : makeLogin(owner, kind, url, facts!));
    return { application: await addressOf("application"), tenant: await addressOf("tenant"), tenantKey: facts!.tenant, statementsAreHidden: facts!.hidden };
  });
}

const SETTING_OF = { application: "DATABASE_APPLICATION_URL", tenant: "DATABASE_TENANT_URL" } as const;

/** A login that the operator made. */
async function useLogin(owner: Client, kind: Kind, url: string): Promise<string> {
  const client = makeClient(url, SETTING_OF[kind]);
  await joinGroup(owner, kind, client.user!);
  const fault = await tryLogin(client, kind);
  if (fault !== null) throw unreachable(client, fault, SETTING_OF[kind]);
  return url;
}

/** A login of ours, made or given its password again where needed. Its name has the database's, because roles belong to the whole server. */
async function makeLogin(owner: Client, kind: Kind, ownerUrl: string, { logins, database }: { logins: Buffer; database: string }): Promise<string> {
  const name = nameOfLogin(database, kind);
  const password = createHmac("sha256", logins).update(name).digest("hex");
  const url = withUser(ownerUrl, name, password);
  const { rowCount: there } = await owner.query("select from pg_roles where rolname = $1", [name]);
  if (there === 0) await alterRole(owner, `create role ${owner.escapeIdentifier(name)} login password '${verifierOf(password)}'`, name);
  await joinGroup(owner, kind, name);
  const fault = await tryLogin(makeClient(url, "DATABASE_URL"), kind);
  if (fault === null) return url;
  if (postgresCode(fault) !== "28P01") throw refusedLogin(name, fault);
  // Of another copy of the database, restored on this server.
  await alterRole(owner, `alter role ${owner.escapeIdentifier(name)} login password '${verifierOf(password)}'`, name);
  const again = await tryLogin(makeClient(url, "DATABASE_URL"), kind);
  if (again !== null) throw refusedLogin(name, again);
  return url;
}

/** The name of the login of this kind that Pharos makes for a database; at most 63 bytes. */
export function nameOfLogin(database: string, kind: Kind): string {
  const name = `${database}_${kind}_login`;
  if (Buffer.byteLength(name) <= 63) return name;
  return `pharos_${createHash("sha256").update(database).digest("hex").slice(0, 32)}_${kind}_login`;
}

async function joinGroup(owner: Client, kind: Kind, name: string): Promise<void> {
  const { rows: [member] } = await owner.query<{ already: boolean }>("select exists (select from pg_auth_members where roleid = $2::regrole and member = (select oid from pg_roles where rolname = $1)) as already", [name, GROUPS[kind]]);
  if (!member!.already) await alterRole(owner, `grant ${GROUPS[kind]} to ${owner.escapeIdentifier(name)}`, name);
}

async function alterRole(owner: Client, statement: string, name: string): Promise<void> {
  await owner.query(statement).catch((error: unknown) => {
    throw new StartFailure(`User "${owner.user}" of DATABASE_URL cannot make the login "${name}": ${reasonOf(error)}.`, {
      fix: `Give it the right (alter role "${owner.user}" createrole), or make the logins yourself and set DATABASE_APPLICATION_URL and DATABASE_TENANT_URL: deploy/production.md has the statements.`,
      cause: error,
    });
  });
}

function refusedLogin(name: string, cause: unknown): StartFailure {
  return new StartFailure(`PostgreSQL does not let in the login "${name}" that Pharos made: ${reasonOf(cause)}.`, {
    fix: "Allow it by password in the server's pg_hba.conf (or the pooler's list of users), or make the logins yourself and set DATABASE_APPLICATION_URL and DATABASE_TENANT_URL.",
    cause,
  });
}

/** Null when it gets in, else why not. Throws StartFailure when it may more than it should. */
async function tryLogin(client: Client, kind: Kind): Promise<unknown> {
  try {
    await client.connect();
  } catch (error) {
    return error;
  }
  try {
    const { rows: [found] } = await client.query<{ mighty: boolean; owner: boolean; others: string[] }>(
      `select rolsuper or rolbypassrls or rolcreaterole as mighty, (select relowner = pg_roles.oid from pg_class where oid = 'organizations'::regclass) as owner,
         array(select other.rolname::text from pg_roles as other where pg_has_role(pg_roles.oid, other.oid, 'member') and other.rolname not in (current_user, $1) order by 1) as others
       from pg_roles where rolname = current_user`,
      [GROUPS[kind]],
    );
    const why = found!.mighty ? "it is a superuser, creates roles or passes row-level security" : found!.owner ? "it owns the tables" : found!.others.length > 0 ? `it is also a member of ${found!.others.join(", ")}` : null;
    if (why !== null) throw new StartFailure(`The ${kind}'s login "${client.user}" may do more than it should: ${why}.`, { fix: `Give ${SETTING_OF[kind]} a login that is a member of ${GROUPS[kind]} alone: deploy/production.md has the statements.` });
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The same address for another user. */
function withUser(url: string, user: string, password: string): string {
  const bare = url.replace(/([?&])(?:user|password)=[^&]*/g, "$1").replace(/&&+/g, "&").replace(/\?&/, "?").replace(/[?&]$/, "");
  return bare.replace(/^(postgres(?:ql)?:\/\/)(?:[^/?#]*@)?/, `$1${encodeURIComponent(user)}:${password}@`);
}

/** What PostgreSQL keeps of a password (RFC 5802): sent in its place, so that no log of statements has the password. */
function verifierOf(password: string): string {
  const iterations = 4_096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const clientKey = createHmac("sha256", salted).update("Client Key").digest();
  const storedKey = createHash("sha256").update(clientKey).digest("base64");
  const serverKey = createHmac("sha256", salted).update("Server Key").digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
