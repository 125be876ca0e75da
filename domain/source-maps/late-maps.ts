import { and, eq, not } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Database, Transaction } from "../../platform/postgres/database.ts";
import { lateSourceMaps } from "../../schemas/tables/all.ts";

/** A build uploads many maps, one soon after the other: the errors are looked through when the last has come. */
const SETTLED_MS = 1_000;
const AGAIN_MS = 10_000;

export interface LateMap {
  organizationId: string;
  serviceId: string;
  release: string;
}

/** A map has come to a release: errors of it from before are to be looked through, from the first one on. */
export async function noteLateMap(tx: Transaction, { at, ...late }: LateMap & { at: Date }): Promise<void> {
  const due = { dueAt: new Date(at.getTime() + SETTLED_MS), doneUpTo: null, leaseToken: null };
  await tx
    .insert(lateSourceMaps)
    .values({ id: newId(), ...late, ...due })
    .onConflictDoUpdate({ target: [lateSourceMaps.serviceId, lateSourceMaps.release], set: due });
}

/** What is claimed under a token; null when somebody else has it or it begins anew. */
export async function readLateMap(database: Database, id: string, token: string): Promise<(LateMap & { doneUpTo: string | null }) | null> {
  const [row] = await database.select().from(lateSourceMaps).where(claimed(id, token));
  return row ?? null;
}

/** Holds on to the claim, and what is done under it; false when it is lost. */
export async function noteDoneUpTo(database: Database, id: string, token: string, { doneUpTo, leaseUntil }: { doneUpTo: string; leaseUntil: Date }): Promise<boolean> {
  const rows = await database.update(lateSourceMaps).set({ doneUpTo, dueAt: leaseUntil }).where(claimed(id, token)).returning({ id: lateSourceMaps.id });
  return rows.length > 0;
}

/** The note goes, or begins anew a little later when there is reason to. */
export async function noteAllDone(database: Database, id: string, token: string, now: Date): Promise<void> {
  const anew = { again: false, doneUpTo: null, leaseToken: null, dueAt: new Date(now.getTime() + AGAIN_MS) };
  const again = await database.update(lateSourceMaps).set(anew).where(and(claimed(id, token), lateSourceMaps.again)).returning({ id: lateSourceMaps.id });
  if (again.length === 0) await database.delete(lateSourceMaps).where(and(claimed(id, token), not(lateSourceMaps.again)));
}

function claimed(id: string, token: string) {
  return and(eq(lateSourceMaps.id, id), eq(lateSourceMaps.leaseToken, token));
}
