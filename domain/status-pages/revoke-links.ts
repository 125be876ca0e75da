import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import type { StatusPageRow } from "./columns.ts";
import { lockStatusPage } from "./read.ts";

type Secrets = Pick<StatusPageRow, "accessLinkSecret" | "previewLinkSecret">;

/** Bytes of a secret that signs links. */
const SECRET_BYTES = 32;

/** What each kind of link is signed with, and what the audit log calls its end. */
const KINDS = {
  access: { column: "accessLinkSecret", action: "status_page.access_links_revoked" },
  preview: { column: "previewLinkSecret", action: "status_page.preview_links_revoked" },
} as const satisfies Record<string, { column: keyof Secrets; action: string }>;

/**
 * Pure: new secrets for a page that becomes private or gets another password, so that no visitor keeps what was given before; none for any
 * other change. A password that is set anew counts as another one, and so does its removal.
 */
export function secretsAfter(before: Pick<StatusPageRow, "visibility" | "passwordHash">, change: Partial<Pick<StatusPageRow, "visibility" | "passwordHash">>): Partial<Secrets> {
  const becomesPrivate = change.visibility === "private" && before.visibility !== "private";
  const hasAnotherPassword = change.passwordHash !== undefined && change.passwordHash !== before.passwordHash;
  return becomesPrivate || hasAnotherPassword ? { accessLinkSecret: randomBytes(SECRET_BYTES), previewLinkSecret: randomBytes(SECRET_BYTES) } : {};
}

/**
 * Ends all links of a kind that were given to a page before, and with links to a private page the sessions of those who gave its password.
 * Links that are made later work. NOT_FOUND for the page.
 */
export async function revokeLinks(database: Database, actor: Actor, pageId: string, kind: keyof typeof KINDS): Promise<void> {
  const { column, action } = KINDS[kind];
  await inTransaction(database, async (tx) => {
    const page = await lockStatusPage(tx, actor.organizationId, pageId);
    await tx.update(statusPages).set({ [column]: randomBytes(SECRET_BYTES) }).where(eq(statusPages.id, page.id));
    await recordAudit(tx, actor, { action, resourceType: "status_page", resourceId: page.id, before: null, after: null });
  });
}
