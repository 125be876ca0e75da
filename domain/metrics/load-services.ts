import { and, eq, inArray, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { metricStates, organizations, serviceOpinions, services } from "../../schemas/tables/all.ts";
import type { Thresholds } from "../../schemas/thresholds.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";
import { effectiveThresholds } from "../services/effective-thresholds.ts";
import { lockServices } from "../services/lock.ts";
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

/** Locks services in the order of their ids until the transaction ends and reads them, in two statements. Ids that no longer exist are left out. */
export async function loadServices(tx: Transaction, ids: readonly string[]): Promise<Map<string, JudgedService>> {
  const locked = await lockServices(tx, ids);
  if (locked.length === 0) return new Map();
  const rows = await tx
    .select({
      id: services.id,
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
    .where(inArray(services.id, locked.map(({ id }) => id)));
  const read = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    locked.map(({ id, organizationId, name, status }) => {
      const { thresholds, defaults, judged, opinion, breaches, clears, inMaintenance } = read.get(id)!;
      // After a status set by hand the opinion is gone, but not what it was about: the same level again is no news.
      const level = judged ?? opinion;
      const state: MetricState = { breaches: breaches ?? 0, clears: clears ?? 0, level };
      return [id, { id, organizationId, name, status, thresholds: effectiveThresholds(thresholds, defaults), state, inMaintenance }];
    }),
  );
}
