import { Failure } from "../../platform/failures.ts";
import { MOST_METRICS, type MetricLevels, type Thresholds, type ThresholdsPatch } from "../../schemas/thresholds.ts";

/**
 * A service's own thresholds after a PATCH (conventions §2), null for "none of its own". What the patch leaves
 * out keeps its value; a metric that is null gets its default back, or goes when it has none.
 * `defaults` are what the service has without thresholds of its own.
 */
export function mergeThresholds(own: Thresholds | null, patch: ThresholdsPatch, defaults: Thresholds): Thresholds | null {
  if (patch === null) return null;
  const { metrics, ...settings } = patch;
  const current = own ?? defaults;
  return { ...current, ...settings, metrics: metrics === null ? defaults.metrics : mergeMetrics(current.metrics, metrics ?? {}, defaults.metrics) };
}

/**
 * Pure: INVALID_REQUEST for merged thresholds of too many metrics, at their place in the body. Those that have more
 * from before there was a bound can still be changed, as long as they get no more.
 */
export function requireFewMetrics(merged: Thresholds | null, before: Thresholds | null, path: string): void {
  const count = Object.keys(merged?.metrics ?? {}).length;
  if (count <= MOST_METRICS || count <= Object.keys(before?.metrics ?? {}).length) return;
  throw new Failure("INVALID_REQUEST", `With this there would be thresholds of ${count} metrics; at most ${MOST_METRICS} can have some.`, {
    path: `${path}/metrics`,
    fix: "Set metrics that need none to null; `metrics: null` restores the defaults.",
  });
}

type Metrics = Thresholds["metrics"];

function mergeMetrics(current: Metrics, patch: Record<string, MetricLevels | null>, defaults: Metrics): Metrics {
  // Maps, because a metric may be called `constructor`.
  const merged = new Map(Object.entries(current));
  const fallback = new Map(Object.entries(defaults));
  for (const [name, levels] of Object.entries(patch)) {
    const restored = fallback.get(name);
    if (levels !== null) merged.set(name, { ...merged.get(name), ...levels });
    else if (restored !== undefined) merged.set(name, restored);
    else merged.delete(name);
  }
  return Object.fromEntries(merged);
}
