import { eq } from "drizzle-orm";
import type { Config } from "../../platform/config.ts";
import { newId, randomBase62 } from "../../platform/ids.ts";
import { hashPassword } from "../../platform/password.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateStatusPage, StatusPage } from "../../schemas/api/status-pages.ts";
import { statusPages, statusPageServices } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockOrganization } from "../organizations/lock.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkAccess, checkFeatures, checkMarkup, explainTaken } from "./check.ts";
import { auditedStatusPage, columnsOf, showStatusPage, type StatusPageRow } from "./columns.ts";
import { claimDomain } from "./custom-domain.ts";
import { makeSlug, varySlug } from "./make-slug.ts";
import { releaseDefault } from "./move-default.ts";

type NewPage = Omit<typeof statusPages.$inferInsert, "slug"> & { slug?: string | undefined };

export interface PageNeeds {
  database: Database;
  config: Pick<Config, "CUSTOM_DOMAIN_PROOF">;
}

/**
 * Makes a page, at a free slug made from its name when none is given; an organization's first one is its default page.
 * PLAN_RESTRICTED, PLAN_LIMIT; SLUG_TAKEN; CONFLICT for its domain; INVALID_REQUEST for unsafe HTML or CSS, or when nobody could see it.
 */
export async function createStatusPage({ database, config }: PageNeeds, actor: Actor, given: CreateStatusPage, at: Date): Promise<StatusPage> {
  checkMarkup(given);
  const password = given.status_page_password ?? null;
  // Before the transaction: it takes tens of milliseconds, in which nobody shall wait for a lock.
  const passwordHash = password === null ? null : await hashPassword(password);
  return inTransaction(database, async (tx) => {
    checkFeatures(await lockOrganization(tx, actor.organizationId), given, null);
    await requireRoom(tx, actor.organizationId, "status_pages");
    const columns = { ...columnsOf(given), ...claimDomain(given.custom_domain, null, config.CUSTOM_DOMAIN_PROOF, at), passwordHash };
    checkAccess(columns);
    const isDefault = given.is_default === true || (await tx.$count(statusPages, eq(statusPages.organizationId, actor.organizationId))) === 0;
    if (isDefault) await releaseDefault(tx, actor, at);
    const row = await insertPage(tx, { ...columns, name: given.name, id: newId(), organizationId: actor.organizationId, isDefault, createdAt: at, updatedAt: at });
    await recordAudit(tx, actor, { action: "status_page.created", resourceType: "status_page", resourceId: row.id, before: null, after: auditedStatusPage(row) });
    return showStatusPage(row);
  }).catch((error: unknown) => {
    throw explainTaken(error, given);
  });
}

interface FirstPage {
  name: string;
  tagline?: string;
  /** Shown in this order. */
  serviceIds: readonly string[];
  at: Date;
}

/** Makes an organization's first page, which is its default page, at a free slug made from the name. */
export async function createFirstPageIn(tx: Transaction, actor: Actor, { name, tagline, serviceIds, at }: FirstPage): Promise<StatusPage> {
  const row = await insertPage(tx, { id: newId(), organizationId: actor.organizationId, name, tagline: tagline ?? null, isDefault: true, createdAt: at, updatedAt: at });
  if (serviceIds.length > 0) await tx.insert(statusPageServices).values(serviceIds.map((serviceId, displayOrder) => ({ organizationId: actor.organizationId, statusPageId: row.id, serviceId, displayOrder })));
  const after = { ...auditedStatusPage(row), service_ids: serviceIds };
  await recordAudit(tx, actor, { action: "status_page.created", resourceType: "status_page", resourceId: row.id, before: null, after });
  return showStatusPage(row);
}

/** A slug that was given is taken or not; of one that is made, whoever takes it meanwhile wins it and another is tried. */
async function insertPage(tx: Transaction, { slug: given, ...page }: NewPage): Promise<StatusPageRow> {
  if (given !== undefined) {
    const [row] = await tx.insert(statusPages).values({ ...page, slug: given }).returning();
    return row!;
  }
  const wanted = makeSlug(page.name);
  for (let slug = wanted; ; slug = varySlug(wanted, randomBase62(6))) {
    const [row] = await tx.insert(statusPages).values({ ...page, slug }).onConflictDoNothing({ target: statusPages.slug }).returning();
    if (row) return row;
  }
}
