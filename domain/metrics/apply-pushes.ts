import { sql } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { Incident } from "../../schemas/api/incidents.ts";
import type { MetricsPush, PushEffect } from "../../schemas/messages/metrics-push.ts";
import type { BreachLevel } from "../../schemas/thresholds.ts";
import { metricStates } from "../../schemas/tables/all.ts";
import type { IncidentSeverity } from "../../schemas/vocabulary.ts";
import { systemActor } from "../actor.ts";
import { openIncidentsIn, type Opening } from "../incidents/open.ts";
import { changeOpinions } from "../services/change-status.ts";
import type { ServiceBatch, ServiceOutcome } from "./evaluate-batch.ts";
import type { MetricState, OpinionStep } from "./evaluate.ts";
import { loadServices, type JudgedService } from "./load-services.ts";

export interface ReceivedPush {
  organizationId: string;
  serviceId: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  push: MetricsPush;
}

interface ApplyOptions {
  now: Date;
  /** `evaluateBatch`, here or in a worker thread. */
  evaluate(batches: ServiceBatch[]): Promise<ServiceOutcome[]> | ServiceOutcome[];
}

/** A push whose turn comes later than this after its receipt tells of the past: it is not evaluated. */
const STALE_MS = 5 * 60_000;

const LONGEST_TITLE = 255;

const SEVERITY_OF: Record<BreachLevel, IncidentSeverity> = { degraded: "minor", partial_outage: "major", major_outage: "critical" };

/** A service's pushes to judge, in order, each with its number among all pushes. */
interface ServiceTurn {
  service: JudgedService;
  numbers: number[];
}

interface NumberedStep {
  service: JudgedService;
  number: number;
  step: OpinionStep;
}

/**
 * Evaluates pushes, each service's in the order given, and applies what follows: counts, opinions, statuses with
 * history and events, and an incident where the service's thresholds want one and a push made it worse. Returns one
 * effect for each push, in the order given. Pushes of services that are gone, and stale ones, have none.
 * The number of statements depends on how often a service changed, not on the number of pushes or services.
 */
export async function applyPushes(tx: Transaction, pushes: readonly ReceivedPush[], { now, evaluate }: ApplyOptions): Promise<PushEffect[]> {
  const effects = pushes.map(({ push }): PushEffect => ({ metrics_received: push.metrics, incident_created: null }));
  const turns = await takeTurns(tx, pushes, now);
  if (turns.length === 0) return effects;
  const outcomes = await evaluate(
    turns.map(({ service: { state, thresholds }, numbers }) => ({ state, thresholds, pushes: numbers.map((number) => pushes[number]!.push.metrics) })),
  );
  await storeStates(tx, turns, outcomes, now);

  const steps = turns.map(({ service, numbers }, n) => outcomes[n]!.steps.flatMap((step, k): NumberedStep[] => (step === null ? [] : [{ service, number: numbers[k]!, step }])));
  // All services' first changes together, then their second ones: each push gets the change that it made.
  for (let round = 0; ; round++) {
    const together = steps.flatMap((ofService) => ofService[round] ?? []);
    if (together.length === 0) return effects;
    await applySteps(tx, together, effects, now);
  }
}

/** Locks the services that have pushes to judge. */
async function takeTurns(tx: Transaction, pushes: readonly ReceivedPush[], now: Date): Promise<ServiceTurn[]> {
  const numbers = new Map<string, number[]>();
  pushes.forEach(({ serviceId, receivedAt }, number) => {
    if (now.getTime() - receivedAt > STALE_MS) return;
    const known = numbers.get(serviceId);
    if (known) known.push(number);
    else if (isUuid(serviceId)) numbers.set(serviceId, [number]);
  });
  const loaded = await loadServices(tx, [...numbers.keys()]);
  return [...loaded.values()]
    .map((service) => ({ service, numbers: numbers.get(service.id)!.filter((number) => pushes[number]!.organizationId === service.organizationId) }))
    .filter((turn) => turn.numbers.length > 0);
}

/** Only what changed is written: most pushes find everything as it was. */
async function storeStates(tx: Transaction, turns: ServiceTurn[], outcomes: ServiceOutcome[], now: Date): Promise<void> {
  const isSame = (a: MetricState, b: MetricState) => a.breaches === b.breaches && a.clears === b.clears && a.level === b.level;
  const rows = turns.flatMap(({ service }, n) => {
    const { state } = outcomes[n]!;
    return isSame(service.state, state) ? [] : [{ service_id: service.id, breaches: state.breaches, clears: state.clears, level: state.level }];
  });
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into ${metricStates} (service_id, breaches, clears, level, updated_at)
    select service_id, breaches, clears, level, ${now.toISOString()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (service_id uuid, breaches integer, clears integer, level service_status)
    on conflict (service_id) do update set breaches = excluded.breaches, clears = excluded.clears, level = excluded.level, updated_at = excluded.updated_at`);
}

/** At most one step of each service. */
async function applySteps(
  tx: Transaction,
  steps: NumberedStep[],
  effects: PushEffect[],
  now: Date,
): Promise<void> {
  const measured = await changeOpinions(
    tx,
    steps.map(({ service, step }) => ({
      serviceId: service.id,
      source: "metrics",
      status: step.status,
      reason: step.reason,
    })),
    now,
  );
  const worsened = steps.filter(wantsIncident);
  const { incidents, changes } = await openIncidentsIn(
    tx,
    worsened.map((each) => openingOf(each, now)),
  );
  for (const [n, { number }] of worsened.entries()) {
    effects[number]!.incident_created = shownIncident(incidents[n]!);
  }
  // An incident weighs on its service by its severity, which may be worse than the metric.
  const statuses = new Map(
    [...measured, ...changes].map(({ serviceId, current }) => [serviceId, current]),
  );
  for (const { service, number, step } of steps) {
    const { status: previous } = service;
    service.status = statuses.get(service.id) ?? previous;
    if (service.status === previous) continue;
    effects[number]!.status_change = { previous, current: service.status, reason: step.reason };
  }
}

/** While people are at work on a service, what it measures is no incident. */
function wantsIncident({ service, step }: NumberedStep): boolean {
  return step.worsened && service.thresholds.create_incident && !service.inMaintenance;
}

function openingOf({ service, step: { status, reason } }: NumberedStep, at: Date): Opening {
  return {
    actor: systemActor(service.organizationId, "metrics"),
    input: {
      title: `${service.name}: ${reason}`.slice(0, LONGEST_TITLE).replace(/\p{Surrogate}$/u, ""),
      severity: service.thresholds.incident_severity ?? SEVERITY_OF[status!],
      message: `Opened automatically: ${reason}.`,
      serviceIds: [service.id],
      openedBy: `metrics:${service.id}`,
      at,
    },
  };
}

/** Null when the one that metrics opened for the service before is still open. */
function shownIncident(opened: Incident | null): PushEffect["incident_created"] {
  return (
    opened && {
      id: opened.id,
      title: opened.title,
      status: opened.status,
      severity: opened.severity,
      started_at: opened.started_at,
    }
  );
}
