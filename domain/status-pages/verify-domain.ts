import { eq } from "drizzle-orm";
import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { ResolveTxt } from "../../platform/resolve-txt.ts";
import type { StatusPage } from "../../schemas/api/status-pages.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import { systemActor, type Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { tellOwner } from "../organizations/tell-owner.ts";
import { explainTaken } from "./check.ts";
import { auditedStatusPage, showStatusPage, type StatusPageRow } from "./columns.ts";
import { decideDomain, domainRecord, type DomainProof } from "./custom-domain.ts";
import { lockStatusPage } from "./read.ts";

interface VerifyNeeds {
  database: Database;
  resolveTxt: ResolveTxt;
  config: Pick<Config, "CUSTOM_DOMAIN_PROOF">;
}

/**
 * Looks for the record that proves a page's domain and notes what it found; the warning says what is missing. NOT_FOUND; INVALID_REQUEST for a page without
 * a domain; CONFLICT when the domain is another page's, whose proof stands or stood in the last 72 hours; UNAVAILABLE when the name service cannot be asked.
 */
export async function verifyDomain({ database, resolveTxt, config }: VerifyNeeds, actor: Actor, id: string, at: Date): Promise<{ page: StatusPage; warning?: string }> {
  const page = await inTransaction(database, (tx) => lockStatusPage(tx, actor.organizationId, id));
  const record = domainRecord(page);
  if (record === null) throw new Failure("INVALID_REQUEST", "The page has no domain of its own.", { path: "/custom_domain", fix: "PATCH it with custom_domain first." });
  if (config.CUSTOM_DOMAIN_PROOF === "none" && page.customDomainStatus === "verified") return { page: showStatusPage(page) };
  const proof = config.CUSTOM_DOMAIN_PROOF === "none" ? "present" : await lookUpProof(resolveTxt, page);
  if (proof === "unknown") throw new Failure("UNAVAILABLE", "The name service could not be asked.", { retryAfter: 60, fix: "Try again in a minute; Pharos tries by itself, too." });
  const row = await noteProof(database, page, { proof, actor, at, asked: true }).catch((error: unknown) => {
    throw explainTaken(error, { custom_domain: page.customDomain });
  });
  if (!row) throw new Failure("CONFLICT", "The page was changed meanwhile.", { fix: "Try again." });
  const warning = `There is no TXT record ${record.name} with the value ${record.value}. A new record can take some minutes to be seen.`;
  return { page: showStatusPage(row), ...(proof === "absent" && { warning }) };
}

/** What the name service says of a page's proof. */
export async function lookUpProof(resolveTxt: ResolveTxt, page: StatusPageRow): Promise<DomainProof> {
  const record = domainRecord(page)!;
  const texts = await resolveTxt(record.name).catch(() => null);
  if (texts === null) return "unknown";
  return texts.some((text) => text.trim() === record.value) ? "present" : "absent";
}

/**
 * Notes what was found of a page's proof, unless its domain was changed meanwhile; then null. An organization that loses its domain is told. Rejects with
 * Postgres' unique violation when another page has the domain.
 */
export async function noteProof(database: Database, page: StatusPageRow, { proof, actor, at, asked }: { proof: DomainProof; actor?: Actor; at: Date; asked: boolean }): Promise<StatusPageRow | null> {
  return inTransaction(database, async (tx) => {
    const found = await lockStatusPage(tx, page.organizationId, page.id);
    if (found.customDomain !== page.customDomain) return null;
    const columns = decideDomain(found, proof, { at, asked });
    const [row] = await tx.update(statusPages).set(columns).where(eq(statusPages.id, page.id)).returning();
    if (row!.customDomainStatus !== found.customDomainStatus) await recordChange(tx, found, row!, actor ?? systemActor(page.organizationId, "Custom domains"));
    if (found.customDomainStatus === "verified" && row!.customDomainStatus === "failed") await tellOwner(tx, { organizationId: page.organizationId, ...describeLost(found), at });
    return row!;
  });
}

async function recordChange(tx: Transaction, before: StatusPageRow, after: StatusPageRow, actor: Actor): Promise<void> {
  await recordAudit(tx, actor, { action: "status_page.updated", resourceType: "status_page", resourceId: after.id, before: auditedStatusPage(before), after: auditedStatusPage(after) });
}

function describeLost(page: StatusPageRow): { subject: string; text: string } {
  const { name, value } = domainRecord(page)!;
  return {
    subject: `${page.customDomain} does not lead to your status page any more`,
    text: [
      `The status page "${page.name}" stood at ${page.customDomain}. The DNS record that proves that the domain is yours has been gone for 72 hours, so Pharos does not show the page there any more.`,
      `The record is a TXT record ${name} with the value ${value}. When it is back, POST /api/v1/status-pages/${page.id}/verify-domain shows the page there again.`,
    ].join("\n"),
  };
}
