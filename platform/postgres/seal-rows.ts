import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { channels, uptimeMonitors, webhooks, workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { inTransaction, type Database } from "./database.ts";

type SealedTable = PgTable & { id: PgColumn };

/** Every column that is sealed, by its table. */
export const SEALED_COLUMNS: readonly (readonly [SealedTable, ...string[]])[] = [
  [webhooks, "signingSecret", "previousSecret", "headers"],
  [uptimeMonitors, "headers", "body"],
  [channels, "config"],
  [workflows, "steps"],
  [workflowRuns, "steps"],
];

const BATCH = 200;

/** Seals what an older version left plain. Any number of processes may do so at once; it may be cut off and repeated. Resolves with the number of values. */
export async function sealPlainRows(database: Database): Promise<number> {
  let sealed = 0;
  for (const [table, ...names] of SEALED_COLUMNS) for (const name of names) sealed += await sealColumn(database, table, name);
  return sealed;
}

async function sealColumn(database: Database, table: SealedTable, name: string): Promise<number> {
  const column = (table as unknown as Record<string, PgColumn>)[name]!;
  const plain = column.getSQLType() === "jsonb" ? sql`jsonb_typeof(${column}) <> 'string'` : sql`${column} not like 'sealed1:%'`;
  for (let sealed = 0; ; ) {
    const count = await inTransaction(database, async (tx) => {
      // Locked: what is changed meanwhile must not be put back.
      const rows = await tx.select({ id: table.id, value: column }).from(table).where(and(isNotNull(column), plain)).limit(BATCH).for("update", { skipLocked: true });
      for (const { id, value } of rows) await tx.update(table).set({ [name]: value }).where(eq(table.id, id));
      return rows.length;
    });
    sealed += count;
    if (count < BATCH) return sealed;
  }
}
