import { and, eq, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { SourceMap, UploadSourceMap } from "../../schemas/api/source-maps.ts";
import { organizations, sourceMapFiles, sourceMaps } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requirePlan } from "../organizations/require-plan.ts";
import { findService } from "../services/read.ts";
import type { BuiltIndex } from "./build-index.ts";
import { noteLateMap } from "./late-maps.ts";
import { storedKey } from "./match-url.ts";
import { requireStorage } from "./require-storage.ts";
import { showSourceMap } from "./show.ts";

/**
 * Reads an organization's map from its file and turns it into an index, in a process of its own. RATE_LIMITED when too many maps of the
 * organization wait for that, UNAVAILABLE when too many of all do.
 */
export type IndexFile = (organizationId: string, path: string) => Promise<BuiltIndex>;

/**
 * Takes a source map for a script of a release, in place of the one that was there. The same content is kept once, however
 * often it is uploaded. PLAN_RESTRICTED; PLAN_LIMIT when the maps would take more than the plan allows; NOT_FOUND for the service;
 * INVALID_SOURCE_MAP with the reason.
 */
export async function uploadSourceMap(database: Database, indexFile: IndexFile, actor: Actor, input: UploadSourceMap, at: Date): Promise<SourceMap> {
  const { organizationId } = actor;
  const { file, release } = input;
  const [organization] = await database.select({ plan: organizations.plan }).from(organizations).where(eq(organizations.id, organizationId));
  requirePlan(organization?.plan ?? "free", "source_maps");
  const { service } = await findService(database, organizationId, input.service_id);
  const url = storedKey(input.url);
  const known = await findFile(database, organizationId, file.hash);
  // Before the transaction: it takes seconds, in which nobody shall wait for a lock.
  const built = known ? null : await readNew(database, indexFile, organizationId, file.path);
  return inTransaction(database, async (tx) => {
    const sameScript = and(eq(sourceMaps.serviceId, service.id), eq(sourceMaps.release, release), eq(sourceMaps.url, url));
    const [before] = await tx.select().from(sourceMaps).where(sameScript).for("update");
    const debugId = built ? await keepFile(tx, { organizationId, hash: file.hash, sizeBytes: file.sizeBytes, debugId: built.debugId, index: built.index, storedBytes: built.index.length, createdAt: at }) : await lockFile(tx, organizationId, file.hash);
    const fields = { hash: file.hash, debugId, uploadedAt: at };
    const [row] = await tx
      .insert(sourceMaps)
      .values({ id: newId(), organizationId, serviceId: service.id, release, url, ...fields })
      .onConflictDoUpdate({ target: [sourceMaps.serviceId, sourceMaps.release, sourceMaps.url], set: fields })
      .returning();
    const shown = showSourceMap(row!, file.sizeBytes);
    await requireStorage(tx, organizationId);
    await noteLateMap(tx, { organizationId, serviceId: service.id, release, at });
    await recordAudit(tx, actor, { action: "sourcemap.uploaded", resourceType: "sourcemap", resourceId: shown.id, before: before ? audited(before) : null, after: audited(row!) });
    return shown;
  });
}

/** The index of a map that is not known yet. Where the plan has no room left the map is not read. */
async function readNew(database: Database, indexFile: IndexFile, organizationId: string, path: string): Promise<BuiltIndex & { kind: "index" }> {
  await requireStorage(database, organizationId);
  const built = await indexFile(organizationId, path);
  if (built.kind === "index") return built;
  throw new Failure("INVALID_SOURCE_MAP", built.reason, { path: "/file", fix: built.fix ?? "Upload the .map file that the build wrote beside the script." });
}

type SourceMapRow = typeof sourceMaps.$inferSelect;

/** With what tells one content from another. */
export function audited({ id, serviceId, release, url, hash, uploadedAt }: SourceMapRow): Record<string, unknown> {
  return { id, service_id: serviceId, release, url, sha256: hash, uploaded_at: uploadedAt.toISOString() };
}

async function findFile(database: Database, organizationId: string, hash: string): Promise<boolean> {
  const found = await database.select({ hash: sourceMapFiles.hash }).from(sourceMapFiles).where(and(eq(sourceMapFiles.organizationId, organizationId), eq(sourceMapFiles.hash, hash)));
  return found.length > 0;
}

/** An update of nothing locks the row where it stands already, so that it cannot go before the map names it. */
async function keepFile(tx: Transaction, file: typeof sourceMapFiles.$inferInsert): Promise<string | null> {
  const [kept] = await tx
    .insert(sourceMapFiles)
    .values(file)
    .onConflictDoUpdate({ target: [sourceMapFiles.organizationId, sourceMapFiles.hash], set: { hash: sql`excluded.hash` } })
    .returning({ debugId: sourceMapFiles.debugId });
  return kept!.debugId;
}

async function lockFile(tx: Transaction, organizationId: string, hash: string): Promise<string | null> {
  const [kept] = await tx.select({ debugId: sourceMapFiles.debugId }).from(sourceMapFiles).where(and(eq(sourceMapFiles.organizationId, organizationId), eq(sourceMapFiles.hash, hash))).for("key share");
  if (!kept) throw new Failure("CONFLICT", "The last map with this content was deleted meanwhile.", { retryAfter: 1, fix: "Upload it again." });
  return kept.debugId;
}
