import { newId, randomBase62 } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { StatusPage } from "../../schemas/api/status-pages.ts";
import { statusPages, statusPageServices } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { makeSlug, varySlug } from "./make-slug.ts";
import { showStatusPage } from "./read.ts";

interface FirstPage {
  name: string;
  tagline?: string;
  /** Shown in this order. */
  serviceIds: readonly string[];
  at: Date;
}

/** Makes an organization's first page, which is its default page, at a free slug made from the name. */
export async function createFirstPageIn(tx: Transaction, actor: Actor, { name, tagline, serviceIds, at }: FirstPage): Promise<StatusPage> {
  const row = await insertAtFreeSlug(tx, { id: newId(), organizationId: actor.organizationId, name, tagline: tagline ?? null, isDefault: true, createdAt: at, updatedAt: at });
  if (serviceIds.length > 0) await tx.insert(statusPageServices).values(serviceIds.map((serviceId, displayOrder) => ({ statusPageId: row.id, serviceId, displayOrder })));
  const page = showStatusPage(row);
  await recordAudit(tx, actor, { action: "status_page.created", resourceType: "status_page", resourceId: page.id, before: null, after: { ...page, service_ids: serviceIds } });
  return page;
}

/** Whoever takes a slug meanwhile wins it: the insert says so, and another one is tried. */
async function insertAtFreeSlug(tx: Transaction, page: Omit<typeof statusPages.$inferInsert, "slug">): Promise<typeof statusPages.$inferSelect> {
  const wanted = makeSlug(page.name);
  for (let slug = wanted; ; slug = varySlug(wanted, randomBase62(6))) {
    const [row] = await tx.insert(statusPages).values({ ...page, slug }).onConflictDoNothing({ target: statusPages.slug }).returning();
    if (row) return row;
  }
}
