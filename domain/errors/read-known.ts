import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { dailyCreations, errorAliases, errorEnvironments, errorSignatures } from "../../schemas/tables/all.ts";

/** What is asked for. */
export interface KnownQuestion {
  signatureIds: readonly string[];
  environments: readonly { organizationId: string; environment: string }[];
  serviceIds: readonly string[];
  /** `YYYY-MM-DD` */
  day: string;
}

/** What Postgres has of that. */
export interface KnownAnswer {
  /** Ids of signatures that neither exist nor became part of another. */
  unknownSignatureIds: string[];
  environments: { organizationId: string; environment: string }[];
  /** What was made on the day, by service and kind. */
  made: { serviceId: string; kind: (typeof dailyCreations.kind.enumValues)[number]; count: number }[];
}

/** Reads which signatures do not exist, which environments do, and what services made on a day, in one statement. Nearly all signatures exist, so that few rows come. */
export async function readKnown(queries: Queries, { signatureIds, environments, serviceIds, day }: KnownQuestion): Promise<KnownAnswer> {
  const ids = uuids(signatureIds);
  const asked = environments.map(({ organizationId, environment }) => ({ organization_id: organizationId, environment }));
  const { rows } = await queries.execute<{ what: string; id: string; text: string | null; count: number | null }>(sql`
    select 'unknown signature' as what, asked.id, null as text, null::integer as count from unnest(${ids}) as asked (id)
    where not exists (select from ${errorSignatures} as signature where signature.id = asked.id)
      and not exists (select from ${errorAliases} as alias where alias.id = asked.id)
    union all
    select 'known environment', asked.organization_id, asked.environment, null
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (organization_id uuid, environment text)
    where exists (
      select from ${errorEnvironments} as known
      where known.organization_id = asked.organization_id and known.environment = asked.environment)
    union all
    select kind, service_id, null, count from ${dailyCreations}
    where day = ${day}::date and service_id = any(${uuids(serviceIds)})`);
  const answer: KnownAnswer = { unknownSignatureIds: [], environments: [], made: [] };
  for (const { what, id, text, count } of rows) {
    if (what === "unknown signature") answer.unknownSignatureIds.push(id);
    else if (what === "known environment") answer.environments.push({ organizationId: id, environment: text! });
    else answer.made.push({ serviceId: id, kind: what as KnownAnswer["made"][number]["kind"], count: count! });
  }
  return answer;
}
