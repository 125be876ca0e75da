import { and, asc, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { channels, uptimeMonitors, webhooks, workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { isSealedWithFallback } from "../../schemas/tables/sealed.ts";
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
  for (const { table, name, column } of sealedColumns()) sealed += await sealPlainColumn(database, { table, name, column });
  return sealed;
}

/**
 * Seals with the key what is sealed with its fallback. Any number of processes may do so at once; it may be cut off and repeated. A value that neither key
 * opens throws. Resolves with the number of values.
 */
export async function sealRowsAnew(database: Database): Promise<number> {
  let sealed = 0;
  for (const each of sealedColumns()) sealed += await sealColumnAnew(database, each);
  return sealed;
}

interface SealedColumn {
  table: SealedTable;
  name: string;
  column: PgColumn;
}

function sealedColumns(): SealedColumn[] {
  return SEALED_COLUMNS.flatMap(([table, ...names]) => names.map((name) => ({ table, name, column: (table as unknown as Record<string, PgColumn>)[name]! })));
}

async function sealPlainColumn(database: Database, { table, name, column }: SealedColumn): Promise<number> {
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

async function sealColumnAnew(database: Database, { table, name, column }: SealedColumn): Promise<number> {
  let sealed = 0;
  for (let after: string | null = null; ; ) {
    const rows: { id: string; stored: unknown }[] = await inTransaction(database, async (tx) => {
      const found = await tx
        .select({ id: sql<string>`${table.id}`, stored: sql<unknown>`${column}`, value: column })
        .from(table)
        .where(after === null ? undefined : gt(table.id, after))
        .orderBy(asc(table.id))
        .limit(BATCH)
        .for("no key update");
      for (const { id, stored, value } of found) {
        if (!isSealedWithFallback(stored)) continue;
        await tx.update(table).set({ [name]: value }).where(eq(table.id, id));
        sealed++;
      }
      return found;
    });
    if (rows.length < BATCH) return sealed;
    after = rows.at(-1)!.id;
  }
}
