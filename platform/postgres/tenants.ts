import { createHash } from "node:crypto";
import { drizzle } from "drizzle-orm/node-postgres";
import { Pool, type PoolClient } from "pg";
import * as tables from "../../schemas/tables/all.ts";
import type { Log } from "../log.ts";
import { isConnectionSpoilt, poolOptions, watchPool, type Database } from "./database.ts";
import type { Logins } from "./logins.ts";
import type { PreparingClient } from "./preparing-client.ts";

/** Postgres as each organization sees it: row-level security shows and takes only the rows of the one that is named here. */
export interface Tenants {
  /** Reads and writes the rows of this organization alone, whatever a query's `where` says. */
  of(organizationId: string): Database;
  close(): Promise<void>;
}

/** In place of an organization's id, where it is not known which one a connection shows. */
const UNKNOWN = "";

/** So many organizations' handles are kept; one is cheap to make again. */
const KEPT = 1_000;

/**
 * Opens a pool of the tenants' login, which row-level security holds for. Whose rows a connection sees is set when it is
 * taken and differs from last time: the setting and the query go out together, in one round trip.
 */
export function openTenants({ tenant, tenantKey, statementsAreHidden }: Omit<Logins, "application">, maxConnections: number, log: Log): Tenants {
  const pool = new Pool({ ...poolOptions(tenant, maxConnections), pipeline: true });
  watchPool(pool, log);
  /** What each connection shows; one that is missing here is new. */
  const shown = new WeakMap<PoolClient, string>();
  const handles = new Map<string, Database>();

  function show(client: PoolClient, organizationId: string): Promise<unknown> | null {
    if (shown.get(client) === organizationId) return null;
    // A statement of the organization before may have left something for the next one: settings, locks, and a prepared
    // statement in place of ours where it could find the name.
    const isEmptied = shown.has(client) ? (client as unknown as InstanceType<typeof PreparingClient>).empty({ keepStatements: statementsAreHidden }) : null;
    shown.set(client, organizationId);
    const statement = { text: "select set_config('pharos.organization', $1, false)", values: [`${organizationId} ${proofOf(organizationId, tenantKey)}`], nameless: true };
    return Promise.all([isEmptied, client.query(statement)]).catch((error: unknown) => {
      // Nobody knows whose rows it shows now: whoever takes it next sets it again.
      shown.set(client, UNKNOWN);
      throw error;
    });
  }

  /** One that was left amid a transaction is closed: emptying it would be part of that. */
  async function take(): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if ((client.getTransactionStatus() ?? "I") === "I") return client;
      client.release(true);
    }
  }

  /** What drizzle and `inTransaction` use of a pool. */
  function poolOf(organizationId: string) {
    return {
      async connect(): Promise<PoolClient> {
        const client = await take();
        try {
          await show(client, organizationId);
          return client;
        } catch (error) {
          client.release(true);
          throw error;
        }
      },
      async query(...given: unknown[]): Promise<unknown> {
        const client = await take();
        let lost = false;
        try {
          const showing = show(client, organizationId);
          const asked = (client.query as (...given: unknown[]) => Promise<unknown>)(...given);
          // Both have ended before another has the connection; without its setting the answer is not used.
          await Promise.allSettled([asked, showing]);
          return (await Promise.all([asked, showing]))[0];
        } catch (error) {
          lost = isConnectionSpoilt(error);
          throw error;
        } finally {
          client.release(lost);
        }
      },
    };
  }

  return {
    of(organizationId) {
      let handle = handles.get(organizationId);
      if (handle) handles.delete(organizationId);
      else handle = drizzle({ client: poolOf(organizationId) as unknown as Pool, schema: tables });
      handles.set(organizationId, handle);
      if (handles.size > KEPT) handles.delete(handles.keys().next().value!);
      return handle;
    },
    close: () => pool.end(),
  };
}

/** What `pharos_organization()` asks for: without the key nobody binds a connection to an organization. */
function proofOf(organizationId: string, key: Buffer): string {
  const inner = createHash("sha256").update(key).update(organizationId).digest();
  return createHash("sha256").update(key).update(inner).digest("hex");
}
