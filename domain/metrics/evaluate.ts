import { BREACH_LEVELS, type BreachLevel, type Thresholds } from "../../schemas/thresholds.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";

/** The worst threshold that a push crossed. */
export interface Breach {
  level: BreachLevel;
  metric: string;
  value: number;
  limit: number;
}

/** What is remembered of a service between its pushes. */
export interface MetricState {
  /** Pushes in a row that were worse than the opinion. */
  breaches: number;
  /** Pushes in a row that were better than the opinion. */
  clears: number;
  /** The level that the pushes left: the opinion of `metrics` unless a status set by hand withdrew it; null for none. */
  level: ServiceStatus | null;
}

/** A change of the opinion of `metrics`; `status` null withdraws it. */
export interface OpinionStep {
  status: BreachLevel | null;
  reason: string;
  /** True when it became worse, which is when an incident may open. */
  worsened: boolean;
}

/** A service's thresholds in the form that judging many pushes is fastest with. */
export interface Judge {
  limits: readonly Limit[];
  breachesToWorsen: number;
  clearsToRecover: number;
}

interface Limit {
  metric: string;
  /** The figures for no level (never crossed), then degraded, partial_outage, major_outage; a missing one is never crossed. */
  figures: readonly [number, number, number, number];
}

export function judgeOf(thresholds: Thresholds): Judge {
  const limits = Object.entries(thresholds.metrics).map(([metric, { degraded = Infinity, partial_outage = Infinity, major_outage = Infinity }]): Limit => ({
    metric,
    figures: [Infinity, degraded, partial_outage, major_outage],
  }));
  return { limits, breachesToWorsen: thresholds.breaches_to_worsen, clearsToRecover: thresholds.clears_to_recover };
}

/** 0 for no opinion, then 1, 2, 3 from mild to bad. Anything that is no level of ours counts as none. */
function rankOf(level: ServiceStatus | null): number {
  return level === null ? 0 : BREACH_LEVELS.indexOf(level as BreachLevel) + 1;
}

/**
 * The worst breach of a push; of several equally bad ones the first in the thresholds. Null when all figures are within
 * their limits (a value that equals a limit is), undefined when the push holds no figure that has a threshold.
 */
export function levelOf(metrics: Readonly<Record<string, number>>, { limits }: Judge): Breach | null | undefined {
  let judged = false;
  let worst = 0;
  let crossed: Limit | null = null;
  for (const limit of limits) {
    const value = metrics[limit.metric];
    // Not `undefined`: a metric may be called like something that every object has.
    if (typeof value !== "number") continue;
    judged = true;
    for (let rank = 3; rank > worst; rank--) {
      if (value > limit.figures[rank]!) {
        worst = rank;
        crossed = limit;
        break;
      }
    }
  }
  if (crossed !== null) return { level: BREACH_LEVELS[worst - 1]!, metric: crossed.metric, value: metrics[crossed.metric]!, limit: crossed.figures[worst]! };
  return judged ? null : undefined;
}

/**
 * What a push does to the opinion of `metrics` on its service.
 *
 * - Worse than the opinion: a breach. At `breaches_to_worsen` breaches in a row the opinion becomes the last one's level.
 * - Better than the opinion, be it a milder breach or none: a clear. At `clears_to_recover` clears in a row the opinion
 *   becomes the last one's level, or is withdrawn. So a service improves step by step as it worsened.
 * - Just as bad: both counts start again.
 * - A push with no figure that has a threshold says nothing and interrupts nothing.
 *
 * Returns the very `state` that was given when nothing changed.
 */
export function evaluatePush(state: MetricState, metrics: Readonly<Record<string, number>>, judge: Judge): { state: MetricState; step: OpinionStep | null } {
  const breach = levelOf(metrics, judge);
  if (breach === undefined) return { state, step: null };
  const now = rankOf(breach?.level ?? null);
  const held = rankOf(state.level);
  if (now === held) return { state: state.breaches === 0 && state.clears === 0 ? state : { ...state, breaches: 0, clears: 0 }, step: null };

  const worse = now > held;
  const count = (worse ? state.breaches : state.clears) + 1;
  const needed = worse ? judge.breachesToWorsen : judge.clearsToRecover;
  if (count < needed) return { state: { level: state.level, breaches: worse ? count : 0, clears: worse ? 0 : count }, step: null };
  const status = breach?.level ?? null;
  return { state: { breaches: 0, clears: 0, level: status }, step: { status, reason: reasonOf(breach), worsened: worse } };
}

function reasonOf(breach: Breach | null): string {
  return breach === null ? "All metrics are within their limits" : `${breach.metric} ${breach.value} is above ${breach.limit}`;
}
