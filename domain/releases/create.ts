import { and, eq } from "drizzle-orm";
import { derivedId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateRelease, Release } from "../../schemas/api/releases.ts";
import { releases } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { findService } from "../services/read.ts";
import { showRelease, showReleases, type ReleaseRow } from "./show.ts";

/**
 * Makes a release of a service, or gives the one of this version more to say: a beacon may have named it before the
 * deployment told of it. Fields that are left out stay, so the same request twice is the same as once. NOT_FOUND for the service.
 */
export async function createRelease(database: Database, actor: Actor, input: CreateRelease, at: Date): Promise<{ release: Release; created: boolean }> {
  return inTransaction(database, async (tx) => {
    const { service } = await findService(tx, actor.organizationId, input.service_id);
    const { version, environment, url, commits, released_at: releasedAt } = input;
    const fields = {
      ...(environment !== undefined && { environment }),
      ...(url !== undefined && { url }),
      ...(commits !== undefined && { commits }),
      ...(releasedAt !== undefined && { releasedAt: releasedAt === null ? null : new Date(releasedAt) }),
    };
    // One of two at once makes it; the other waits here and finds it.
    const [made] = await tx
      .insert(releases)
      .values({ id: derivedId("release", service.id, version), organizationId: actor.organizationId, serviceId: service.id, version, ...fields, createdAt: at })
      .onConflictDoNothing()
      .returning();
    if (!made) return { release: await addTo(tx, actor, service.id, version, fields), created: false };
    const [release] = await showReleases(tx, [made]);
    await recordAudit(tx, actor, { action: "release.created", resourceType: "release", resourceId: made.id, before: null, after: audited(made) });
    return { release: release!, created: true };
  });
}

type Fields = Partial<Pick<typeof releases.$inferInsert, "environment" | "url" | "commits" | "releasedAt">>;

async function addTo(tx: Transaction, actor: Actor, serviceId: string, version: string, fields: Fields): Promise<Release> {
  const sameOne = and(eq(releases.serviceId, serviceId), eq(releases.version, version));
  const [before] = await tx.select().from(releases).where(sameOne).for("no key update");
  const [row] = Object.keys(fields).length === 0 ? [before] : await tx.update(releases).set(fields).where(sameOne).returning();
  if (JSON.stringify(row) !== JSON.stringify(before)) {
    await recordAudit(tx, actor, { action: "release.updated", resourceType: "release", resourceId: row!.id, before: audited(before!), after: audited(row!) });
  }
  const [release] = await showReleases(tx, [row!]);
  return release!;
}

/** Without the counts, which are no part of the change. */
function audited(row: ReleaseRow): Record<string, unknown> {
  const { new_errors: _new, regressed_errors: _regressed, sourcemap_count: _maps, ...fields } = showRelease(row);
  return fields;
}
