import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";

/** Where changes of what pages show are announced, each with the organization's id. */
export const PAGE_CHANGES = "pharos_pages";

/** Tells every control plane, when the transaction commits, that pages of these organizations show something else now. */
export async function announcePageChanges(tx: Transaction, organizationIds: ReadonlySet<string>): Promise<void> {
  if (organizationIds.size === 0) return;
  await tx.execute(sql`select pg_notify(${PAGE_CHANGES}, id) from unnest(${`{${[...organizationIds].join(",")}}`}::text[]) as changed (id)`);
}
