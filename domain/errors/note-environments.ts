import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { errorEnvironments, errorSignatures } from "../../schemas/tables/all.ts";
import type { BriefRow } from "./brief-rows.ts";
import type { NotedEnvironments, SignatureEnvironment } from "./noted-environments.ts";
import { OTHER_ENVIRONMENT } from "./too-many.ts";

/** What noting found. */
export interface FoundEnvironments {
  /** Of each environment in which its organization had no error before, a service; not of the environment of all others. */
  services: string[];
  /** Pairs that stand once the transaction is committed, beside those that were noted. */
  pairs: SignatureEnvironment[];
}

/**
 * Notes in which environments signatures have events. `aliases` leads from ids of rows to signatures; those of `noted` are
 * not asked for again, and when all are there is no statement.
 */
export async function noteEnvironments(
  tx: Transaction,
  rows: readonly BriefRow[],
  { aliases, noted }: { aliases: ReadonlyMap<string, string>; noted: Pick<NotedEnvironments, "isNoted"> },
): Promise<FoundEnvironments> {
  const found = new Map<string, SignatureEnvironment>();
  for (const { type, signature_id: given, environment } of rows) {
    const signatureId = aliases.get(given) ?? given;
    if (type === "vital" || noted.isNoted(signatureId, environment)) continue;
    found.set(`${signatureId}${environment}`, { signatureId, environment });
  }
  if (found.size === 0) return { services: [], pairs: [] };
  const pairs = [...found.values()];
  const asked = pairs.map(({ signatureId, environment }) => ({ signature_id: signatureId, environment }));
  // The rest of the statement sees the table as it was before the insert.
  const { rows: made } = await tx.execute<{ service_id: string }>(sql`
    with noted as (
      insert into ${errorEnvironments} (organization_id, environment, signature_id)
      select signature.organization_id, seen.environment, signature.id
      from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as seen (signature_id uuid, environment text)
      join ${errorSignatures} as signature on signature.id = seen.signature_id
      where not exists (select from ${errorEnvironments} as known where known.organization_id = signature.organization_id and known.environment = seen.environment and known.signature_id = signature.id)
      order by signature.id, seen.environment
      on conflict do nothing
      returning organization_id, environment, signature_id
    )
    select distinct on (noted.organization_id, noted.environment) signature.service_id
    from noted join ${errorSignatures} as signature on signature.id = noted.signature_id
    where noted.environment != ${OTHER_ENVIRONMENT}
      and not exists (select from ${errorEnvironments} as known where known.organization_id = noted.organization_id and known.environment = noted.environment)
    order by noted.organization_id, noted.environment, signature.service_id`);
  return { services: made.map(({ service_id: serviceId }) => serviceId), pairs };
}
