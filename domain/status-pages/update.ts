import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { hashPassword } from "../../platform/password.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { StatusPage, UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockOrganization } from "../organizations/lock.ts";
import { checkAccess, checkFeatures, checkMarkup, explainTaken } from "./check.ts";
import { auditedStatusPage, columnsOf, showStatusPage, type StatusPageRow } from "./columns.ts";
import type { PageNeeds } from "./create.ts";
import { claimDomain } from "./custom-domain.ts";
import { decideWarning } from "./decide-warning.ts";
import { releaseDefault } from "./move-default.ts";
import { getStatusPage, lockStatusPage } from "./read.ts";
import { secretsAfter } from "./revoke-links.ts";

/**
 * Changes a page; what is left out stays. `is_default` true takes the mark from the page that has it. A page that becomes private or gets
 * another password ends what visitors were given before. The warning tells of fields that the page's design governs. NOT_FOUND, PLAN_RESTRICTED, SLUG_TAKEN, CONFLICT for its domain,
 * DEFAULT_PAGE for a default page that would be none, INVALID_REQUEST for unsafe HTML or CSS, or when nobody could see it any more.
 */
export async function updateStatusPage({ database, config }: PageNeeds, actor: Actor, id: string, patch: UpdateStatusPage, at: Date): Promise<{ page: StatusPage; warning?: string }> {
  checkMarkup(patch);
  const passwordHash = await hashFor(database, actor, id, patch.status_page_password);
  return inTransaction(database, async (tx) => {
    const plan = await lockOrganization(tx, actor.organizationId);
    const found = await lockStatusPage(tx, actor.organizationId, id);
    if (patch.is_default === false) requireNotDefault(found);
    checkFeatures(plan, patch, found);
    const columns = definedOf({ ...columnsOf(patch), ...claimDomain(patch.custom_domain, found.customDomain, config.CUSTOM_DOMAIN_PROOF, at), passwordHash });
    checkAccess({ ...found, ...columns });
    if (patch.is_default === true && !found.isDefault) await releaseDefault(tx, actor, at);
    const updatedAt = at > found.updatedAt ? at : found.updatedAt;
    const [row] = await tx.update(statusPages).set({ ...columns, ...secretsAfter(found, columns), isDefault: found.isDefault || patch.is_default === true, updatedAt }).where(eq(statusPages.id, found.id)).returning();
    await recordAudit(tx, actor, { action: "status_page.updated", resourceType: "status_page", resourceId: found.id, before: auditedStatusPage(found), after: auditedStatusPage(row!) });
    const warning = decideWarning(patch, found);
    return { page: showStatusPage(row!), ...(warning !== null && { warning }) };
  }).catch((error: unknown) => {
    throw explainTaken(error, patch);
  });
}

/**
 * Undefined leaves the password as it is, null removes it. Before the transaction: hashing takes tens of milliseconds, in
 * which nobody shall wait for a lock; and not for a page that is not there.
 */
async function hashFor(database: Database, actor: Actor, id: string, password: string | null | undefined): Promise<string | null | undefined> {
  if (password === undefined || password === null) return password;
  await getStatusPage(database, actor.organizationId, id);
  return hashPassword(password);
}

function requireNotDefault({ isDefault }: StatusPageRow): void {
  if (isDefault) throw new Failure("DEFAULT_PAGE", "One page has to be the default page, and this one is.", { path: "/is_default", fix: "Make another page the default: PATCH it with is_default true." });
}

/** Without the fields that are undefined, so that it can be laid over a row. */
function definedOf<Fields extends object>(fields: Fields): Partial<{ [Name in keyof Fields]: Exclude<Fields[Name], undefined> }> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<{ [Name in keyof Fields]: Exclude<Fields[Name], undefined> }>;
}
