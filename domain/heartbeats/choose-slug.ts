import { and, eq, isNull, like } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";

const LONGEST = 50;

/** A slug made of a name's letters and digits: "Nightly Backup (é)" → `nightly-backup-e`. */
function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{Mark}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, LONGEST).replace(/^-+|-+$/g, "");
  // Three characters are the least that a slug given by hand may have; a name in another script leaves nothing.
  if (plain.length >= 3) return plain;
  return plain === "" ? "monitor" : `${plain}-monitor`;
}

/**
 * A slug that no monitor of the organization has: of the name, with a number behind it when taken. The caller
 * holds the organization's row, so nobody else takes it meanwhile.
 */
export async function freeSlug(tx: Transaction, organizationId: string, name: string): Promise<string> {
  const base = slugOf(name);
  const { slug, deletedAt } = heartbeatMonitors;
  const rows = await tx
    .select({ slug })
    .from(heartbeatMonitors)
    .where(and(eq(heartbeatMonitors.organizationId, organizationId), like(slug, `${base}%`), isNull(deletedAt)));
  const taken = new Set(rows.map((row) => row.slug));
  let free = base;
  for (let number = 2; taken.has(free) || isUuid(free); number++) free = `${base}-${number}`;
  return free;
}

/** INVALID_REQUEST for a slug that would be read as an id. */
export function checkSlug(slug: string): void {
  if (isUuid(slug)) throw new Failure("INVALID_REQUEST", "A slug must not look like an id.", { path: "/slug" });
}

export function slugTaken(slug: string): Failure {
  return new Failure("SLUG_TAKEN", `The slug "${slug}" belongs to another heartbeat monitor.`, { path: "/slug", fix: "Choose another slug, or leave it out to have one made from the name." });
}
