import { describe, expect, it } from "vitest";
import { DEFAULT_THRESHOLDS, MOST_METRICS, type Thresholds, type ThresholdsPatch } from "../../schemas/thresholds.ts";
import { effectiveThresholds } from "./effective-thresholds.ts";
import { mergeThresholds, requireFewMetrics } from "./merge-thresholds.ts";

const spec = DEFAULT_THRESHOLDS;
const own: Thresholds = { metrics: { error_rate: { degraded: 5 }, queue_length: { major_outage: 100 } }, breaches_to_worsen: 3, clears_to_recover: 2, create_incident: true, incident_severity: "critical" };

const cases: { name: string; own: Thresholds | null; patch: ThresholdsPatch; expected: Thresholds | null }[] = [
  { name: "null for the whole set leaves none of its own", own, patch: null, expected: null },
  { name: "an empty patch keeps what is there", own, patch: {}, expected: own },
  { name: "without its own a patch begins at the defaults", own: null, patch: { breaches_to_worsen: 5 }, expected: { ...spec, breaches_to_worsen: 5 } },
  { name: "a setting changes alone", own, patch: { create_incident: false }, expected: { ...own, create_incident: false } },
  { name: "a level is merged into its metric", own, patch: { metrics: { error_rate: { major_outage: 60 } } }, expected: { ...own, metrics: { ...own.metrics, error_rate: { degraded: 5, major_outage: 60 } } } },
  { name: "a default metric keeps its other levels", own: null, patch: { metrics: { error_rate: { degraded: 2 } } }, expected: { ...spec, metrics: { ...spec.metrics, error_rate: { degraded: 2, partial_outage: 10, major_outage: 50 } } } },
  { name: "a new metric is added", own, patch: { metrics: { disk_percent: { degraded: 80 } } }, expected: { ...own, metrics: { ...own.metrics, disk_percent: { degraded: 80 } } } },
  { name: "null gives a metric its default back", own, patch: { metrics: { error_rate: null } }, expected: { ...own, metrics: { ...own.metrics, error_rate: spec.metrics["error_rate"]! } } },
  { name: "null removes a metric that has no default", own, patch: { metrics: { queue_length: null } }, expected: { ...own, metrics: { error_rate: { degraded: 5 } } } },
  { name: "null for all metrics restores them and keeps the settings", own, patch: { metrics: null }, expected: { ...own, metrics: spec.metrics } },
  { name: "a metric may be called constructor", own: null, patch: { metrics: { constructor: { degraded: 1 } } }, expected: { ...spec, metrics: { ...spec.metrics, constructor: { degraded: 1 } } } },
  { name: "a metric called constructor can be restored to nothing", own, patch: { metrics: { constructor: null } }, expected: own },
];

describe("a patch of thresholds", () => {
  it.each(cases)("$name", ({ own, patch, expected }) => {
    const untouched = structuredClone({ own, spec });
    expect(mergeThresholds(own, patch, spec)).toEqual(expected);
    expect({ own, spec }).toEqual(untouched);
  });
});

describe("thresholds of many metrics", () => {
  const of = (count: number): Thresholds => ({ ...spec, metrics: Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, {}])) });

  it.each<[string, Thresholds | null, Thresholds | null]>([
    ["none of its own", null, of(5)],
    ["as many as are allowed", of(MOST_METRICS), null],
    ["more, which were there", of(MOST_METRICS + 7), of(MOST_METRICS + 7)],
    ["more, but fewer than were there", of(MOST_METRICS + 6), of(MOST_METRICS + 7)],
  ])("are taken: %s", (_, merged, before) => {
    expect(() => requireFewMetrics(merged, before, "/thresholds")).not.toThrow();
  });

  it.each<[string, Thresholds | null]>([
    ["than are allowed", of(MOST_METRICS)],
    ["than a service without its own can have", null],
    ["than were there from before the bound", of(MOST_METRICS + 3)],
  ])("are refused when they are more %s", (_, before) => {
    const refused = { message: expect.stringContaining("thresholds of 104 metrics"), details: { path: "/thresholds/metrics", fix: expect.any(String) } };
    expect(() => requireFewMetrics(of(MOST_METRICS + 4), before, "/thresholds")).toThrow(expect.objectContaining(refused));
  });
});

describe("effective thresholds", () => {
  const organization = { ...spec, breaches_to_worsen: 9 };
  it("are the service's own, else the organization's, else the specification's", () => {
    expect(effectiveThresholds(own, organization)).toBe(own);
    expect(effectiveThresholds(null, organization)).toBe(organization);
    expect(effectiveThresholds(null, null)).toBe(spec);
  });
});
