import { z } from "zod";
import { INCIDENT_SEVERITIES } from "./vocabulary.ts";

/** The statuses a metric can move a service to, from mildest to worst. */
export const BREACH_LEVELS = ["degraded", "partial_outage", "major_outage"] as const;
export type BreachLevel = (typeof BREACH_LEVELS)[number];

/** Of how many metrics a service or an organization has thresholds at most. */
export const MOST_METRICS = 100;

export const METRIC_NAME = /^[a-z][a-z0-9_]{0,63}$/;

const Levels = z.strictObject({
  degraded: z.number().optional(),
  partial_outage: z.number().optional(),
  major_outage: z.number().optional(),
});
export type MetricLevels = z.infer<typeof Levels>;

/** A service's own thresholds (conventions §2). A value above a figure sets that status. */
export const Thresholds = z.strictObject({
  metrics: z.record(z.string().regex(METRIC_NAME), Levels),
  breaches_to_worsen: z.int().min(1).max(1000),
  clears_to_recover: z.int().min(1).max(1000),
  create_incident: z.boolean(),
  incident_severity: z.enum(INCIDENT_SEVERITIES).optional(),
});
export type Thresholds = z.infer<typeof Thresholds>;

/** What a service has until it is given its own (specification §8, table of default thresholds). */
export const DEFAULT_THRESHOLDS: Thresholds = {
  metrics: {
    error_rate: { degraded: 1, partial_outage: 10, major_outage: 50 },
    response_time_ms: { degraded: 1000, partial_outage: 3000, major_outage: 10000 },
    cpu_percent: { degraded: 70, partial_outage: 85, major_outage: 95 },
    memory_percent: { degraded: 70, partial_outage: 85, major_outage: 95 },
  },
  breaches_to_worsen: 1,
  clears_to_recover: 1,
  create_incident: false,
};

/** PATCH of thresholds merges; `null` for a metric or for the whole set restores the defaults. */
export const ThresholdsPatch = z
  .strictObject({
    metrics: z
      .record(z.string().regex(METRIC_NAME), Levels.nullable())
      .meta({ description: `At most ${MOST_METRICS}, those that are merged into counted.`, maxProperties: MOST_METRICS })
      .nullable()
      .optional(),
    breaches_to_worsen: z.int().min(1).max(1000).optional(),
    clears_to_recover: z.int().min(1).max(1000).optional(),
    create_incident: z.boolean().optional(),
    incident_severity: z.enum(INCIDENT_SEVERITIES).optional(),
  })
  .nullable();
export type ThresholdsPatch = z.infer<typeof ThresholdsPatch>;
