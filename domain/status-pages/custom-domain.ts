import type { Config } from "../../platform/config.ts";
import type { DomainStatus } from "../../schemas/vocabulary.ts";
import type { StatusPageRow } from "./columns.ts";

/** How long the proof of a verified domain may be gone. */
const GONE_MS = 72 * 3_600_000;

type DomainColumns = Pick<StatusPageRow, "customDomain" | "customDomainStatus" | "customDomainClaimedAt" | "customDomainCheckedAt" | "customDomainFailingSince">;

/** What the name service says about a domain's proof; `unknown` when it could not be asked. */
export type DomainProof = "present" | "absent" | "unknown";

/** The DNS record that proves a page's domain: who may write the domain's zone says with it that this page may stand there. */
export function domainRecord({ id, customDomain }: Pick<StatusPageRow, "id" | "customDomain">): { type: "TXT"; name: string; value: string } | null {
  return customDomain === null ? null : { type: "TXT", name: `_pharos.${customDomain}`, value: `pharos-page=${id}` };
}

/** Whether requests for a host name lead to this page: its own domain, and proven. */
export function isLedTo({ customDomain, customDomainStatus }: Pick<StatusPageRow, "customDomain" | "customDomainStatus">, host: string): boolean {
  return customDomainStatus === "verified" && customDomain === host;
}

/** The columns of a claim, or nothing when a request leaves the domain as it is. `proof`: CUSTOM_DOMAIN_PROOF. */
export function claimDomain(wanted: string | null | undefined, existing: string | null, proof: Config["CUSTOM_DOMAIN_PROOF"], at: Date): Partial<DomainColumns> {
  if (wanted === undefined || wanted === existing) return {};
  const status: DomainStatus | null = wanted === null ? null : proof === "none" ? "verified" : "pending";
  return { customDomain: wanted, customDomainStatus: status, customDomainClaimedAt: wanted === null ? null : at, customDomainCheckedAt: null, customDomainFailingSince: null };
}

/**
 * What a look at the proof makes of a claim. A verified domain stays so until its proof has been gone for 72 hours; one that is not becomes `failed` when
 * its owner asked for the look, else it goes on waiting. A name service that cannot be asked
 * changes nothing but when it was asked.
 */
export function decideDomain(row: DomainColumns, proof: DomainProof, { at, asked }: { at: Date; asked: boolean }): Partial<DomainColumns> {
  if (proof === "unknown") return { customDomainCheckedAt: at };
  if (proof === "present") return { customDomainStatus: "verified", customDomainCheckedAt: at, customDomainFailingSince: null };
  if (row.customDomainStatus !== "verified") return { customDomainCheckedAt: at, ...(asked && { customDomainStatus: "failed" }) };
  const since = row.customDomainFailingSince ?? at;
  return { customDomainCheckedAt: at, customDomainFailingSince: since, ...(at.getTime() - since.getTime() >= GONE_MS && { customDomainStatus: "failed" }) };
}
