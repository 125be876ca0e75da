import { and, eq, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { metricStates, organizations, serviceOpinions, services } from "../../schemas/tables/all.ts";
import type { Thresholds } from "../../schemas/thresholds.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";
import { effectiveThresholds } from "../services/effective-thresholds.ts";
import type { MetricState } from "./evaluate.ts";

/** A locked service with all that judging its pushes needs. */
export interface JudgedService {
  id: string;
  organizationId: string;
  name: string;
  status: ServiceStatus;
  thresholds: Thresholds;
  state: MetricState;
  inMaintenance: boolean;
}

/**
 * Locks services in the order of their ids until the transaction ends and reads them, in two statements: what is read must be of the time after the
 * lock. Ids that no longer exist are left out. The ids travel as one value: a statement with thousands of them costs more to write than to run.
 */
export async function loadServices(tx: Transaction, ids: readonly string[]): Promise<Map<string, JudgedService>> {
  if (ids.length === 0) return new Map();
  const among = sql`${services.id} = any(${sql.param([...new Set(ids)])}::uuid[])`;
  await tx.execute(sql`select from ${services} where ${among} order by ${services.id} for no key update`);
  const rows = await tx
    .select({
      id: services.id,
      organizationId: services.organizationId,
      name: services.name,
      status: services.status,
      thresholds: services.thresholds,
      defaults: organizations.defaultThresholds,
      judged: metricStates.level,
      opinion: serviceOpinions.status,
      breaches: metricStates.breaches,
      clears: metricStates.clears,
      inMaintenance: sql<boolean>`exists (select from ${serviceOpinions} as other where other.service_id = ${services.id} and other.source = 'maintenance')`,
    })
    .from(services)
    .innerJoin(organizations, eq(organizations.id, services.organizationId))
    .leftJoin(metricStates, eq(metricStates.serviceId, services.id))
    .leftJoin(serviceOpinions, and(eq(serviceOpinions.serviceId, services.id), eq(serviceOpinions.source, "metrics")))
    .where(among)
    .orderBy(services.id);
  return new Map(
    rows.map(({ id, organizationId, name, status, thresholds, defaults, judged, opinion, breaches, clears, inMaintenance }) => {
      // After a status set by hand the opinion is gone, but not what it was about: the same level again is no news.
      const level = judged ?? opinion;
      const state: MetricState = { breaches: breaches ?? 0, clears: clears ?? 0, level };
      return [id, { id, organizationId, name, status, thresholds: effectiveThresholds(thresholds, defaults), state, inMaintenance }];
    }),
  );
}
