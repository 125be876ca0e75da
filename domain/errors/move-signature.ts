import { asc, eq, inArray, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { Frame, GroupingPart } from "../../schemas/frames.ts";
import { errorAliases, errorEnvironments, errorSignatures, errorStacks } from "../../schemas/tables/all.ts";
import { storableJson } from "../events/storable-json.ts";
import { decideMerge } from "./decide-merge.ts";
import type { Group } from "./group-again.ts";

/** A group with what its signature keeps. */
export interface NewGroup extends Omit<Group, "frames" | "mapped"> {
  frames: Frame[];
  stackTrace: string;
}

type Row = typeof errorSignatures.$inferSelect;

/**
 * Lets a signature be what its events are grouped as now: with counts, history and status it becomes that one, or part of it when it exists
 * already, and its old id leads there for ever. Its events in ClickHouse stay under the old id. False when there is no such signature (any more).
 * The rows are locked in the order of their ids, as counting does.
 */
export async function moveSignature(tx: Transaction, from: string, to: NewGroup): Promise<boolean> {
  const locked = await lock(tx, [from, to.id]);
  const source = locked.find(({ id }) => id === from);
  if (!source) return false;
  if (to.id === from) {
    await tx.update(errorSignatures).set({ culprit: to.culprit || null }).where(eq(errorSignatures.id, from));
    await tx.update(errorStacks).set(stackOf(to)).where(eq(errorStacks.signatureId, from));
    return true;
  }
  const target = locked.find(({ id }) => id === to.id) ?? (await take(tx, source, to));
  if (target) await tx.update(errorSignatures).set(decideMerge(source, target)).where(eq(errorSignatures.id, to.id));
  await tx.execute(sql`
    insert into ${errorEnvironments} (organization_id, environment, signature_id)
    select organization_id, environment, ${to.id} from ${errorEnvironments} where signature_id = ${from} order by environment on conflict do nothing`);
  // It may have been the other way round before, by another map: what exists is no alias.
  await tx.delete(errorAliases).where(eq(errorAliases.id, to.id));
  await tx.update(errorAliases).set({ signatureId: to.id }).where(eq(errorAliases.signatureId, from));
  await tx.delete(errorSignatures).where(eq(errorSignatures.id, from));
  await tx.insert(errorAliases).values({ id: from, organizationId: source.organizationId, signatureId: to.id });
  return true;
}

function lock(tx: Transaction, ids: string[]): Promise<Row[]> {
  return tx.select().from(errorSignatures).where(inArray(errorSignatures.id, ids)).orderBy(asc(errorSignatures.id)).for("update");
}

/** Makes the new signature of the old one; gives it back instead when somebody else made it just now. */
async function take(tx: Transaction, source: Row, to: NewGroup): Promise<Row | null> {
  // Drizzle leaves generated columns out of what it inserts.
  const made = await tx
    .insert(errorSignatures)
    .values({ ...source, id: to.id, groupingVersion: to.version, fingerprint: to.fingerprint, culprit: to.culprit || null })
    .onConflictDoNothing()
    .returning({ id: errorSignatures.id });
  if (made.length === 0) return (await lock(tx, [to.id]))[0]!;
  await tx.insert(errorStacks).values({ signatureId: to.id, organizationId: source.organizationId, ...stackOf(to) });
  return null;
}

function stackOf({ stackTrace, frames, parts }: NewGroup) {
  return { stackTrace, frames: JSON.parse(storableJson(frames)) as Frame[], groupingParts: JSON.parse(storableJson(parts)) as GroupingPart[] };
}
