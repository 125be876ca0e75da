import { z } from "zod";
import { METRIC_NAME } from "../thresholds.ts";
import { INCIDENT_SEVERITIES, INCIDENT_STATUSES, SERVICE_STATUSES } from "../vocabulary.ts";

/** A metrics push as `readMetricsPush` understood it. */
export interface MetricsPush {
  /** As sent; text that is no id simply names no service. */
  serviceId: string;
  /** At least one; finite. */
  metrics: Record<string, number>;
  /** ISO 8601 in UTC with milliseconds; null when the sender gave none. */
  timestamp: string | null;
}

export type MetricsPushReading = { kind: "read"; push: MetricsPush } | { kind: "invalid"; code: "INVALID_REQUEST"; error: string; path: string; fix?: string };

const percent = z.number().min(0).max(100).optional();

/** The body of a push for the OpenAPI document; `readMetricsPush` does the checking (specification §2.8). */
export const MetricsPushBody = z
  .object({
    service_id: z.string().meta({ description: "The service that the figures are about." }),
    metrics: z
      .object({
        error_rate: percent.meta({ description: "Percent of requests that failed." }),
        response_time_ms: z.number().optional().meta({ description: "Average in milliseconds." }),
        cpu_percent: percent,
        memory_percent: percent,
        disk_percent: percent,
        request_count: z.number().optional().meta({ description: "Requests in the period." }),
        error_count: z.number().optional().meta({ description: "Errors in the period." }),
      })
      .catchall(z.number())
      .meta({ description: "At least one. Further names match ^[a-z][a-z0-9_]{0,63}$; names ending in _percent are from 0 to 100." }),
    timestamp: z.string().optional().meta({ description: "ISO 8601; without an offset it is UTC. One more than 24 hours off is kept as reported, and the sample counts at its receipt." }),
  })
  .meta({ description: "Unknown fields beside these are ignored.", example: { service_id: "0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10", metrics: { error_rate: 0.4, response_time_ms: 120 } } });

/** What a push did; `success` is left to whoever answers. */
const PushEffect = z.object({
  metrics_received: z.record(z.string(), z.number()),
  status_change: z
    .object({ previous: z.enum(SERVICE_STATUSES), current: z.enum(SERVICE_STATUSES), reason: z.string().meta({ example: "error_rate 12 is above 10" }) })
    .optional()
    .meta({ description: "Present when this push changed the service's status." }),
  incident_created: z
    .object({ id: z.uuid(), title: z.string(), status: z.enum(INCIDENT_STATUSES), severity: z.enum(INCIDENT_SEVERITIES), started_at: z.iso.datetime() })
    .nullable()
    .meta({ description: "The incident that this push opened, when the service's thresholds have create_incident." }),
});
export type PushEffect = z.infer<typeof PushEffect>;

/** Answer of POST /api/metrics/ingest. */
export const MetricsPushAnswer = PushEffect.extend({
  success: z.literal(true),
  evaluation: z.literal("pending").optional().meta({ description: "Only with 202: the push is durable and will be evaluated once." }),
}).meta({ id: "MetricsPushAnswer" });

/** Checks a parsed body; nothing is copied on the way, so it is cheap enough for the edge. */
export function readMetricsPush(value: unknown): MetricsPushReading {
  if (!isRecord(value)) return invalid("", "The body must be a JSON object.", 'Send {"service_id": "…", "metrics": {"error_rate": 0.4}}.');
  const { service_id: serviceId, metrics, timestamp = null } = value;
  if (typeof serviceId !== "string" || serviceId === "") return invalid("/service_id", "service_id is required and must be a string.", "GET /api/v1/services lists the ids.");
  if (!isRecord(metrics)) return invalid("/metrics", "metrics is required and must be an object of numbers.");
  let count = 0;
  for (const name in metrics) {
    const problem = problemOf(name, metrics[name]);
    if (problem !== null) return invalid(`/metrics/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, problem);
    count += 1;
  }
  if (count === 0) return invalid("/metrics", "metrics must hold at least one figure.");
  if (timestamp === null) return { kind: "read", push: { serviceId, metrics: metrics as Record<string, number>, timestamp } };
  const at = typeof timestamp === "string" ? isoMoment(timestamp) : null;
  if (at === null) return invalid("/timestamp", "timestamp must be an ISO 8601 date and time.", "For example 2026-05-04T12:30:00Z; left out, the time of receipt counts.");
  return { kind: "read", push: { serviceId, metrics: metrics as Record<string, number>, timestamp: at.toISOString() } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function problemOf(name: string, value: unknown): string | null {
  if (!METRIC_NAME.test(name)) return "A metric's name begins with a lower-case letter and holds up to 64 lower-case letters, digits and underscores.";
  if (typeof value !== "number" || !Number.isFinite(value)) return `${name} must be a finite number.`;
  if ((name === "error_rate" || name.endsWith("_percent")) && (value < 0 || value > 100)) return `${name} is a percentage and must be from 0 to 100.`;
  return null;
}

const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** The calendar form of ISO 8601, with or without a time; without an offset it is UTC. Null for anything else, such as 30 February. */
function isoMoment(text: string): Date | null {
  const match = ISO_8601.exec(text);
  if (!match) return null;
  const [, date = "", time = "00:00", seconds = "00", fraction = "0", zone = "Z"] = match;
  const local = new Date(`${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  // JavaScript turns 30 February into 2 March; a date that is not what was sent was never one.
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== date) return null;
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (!offset) return local;
  const [, sign, hours, minutes = "00"] = offset;
  if (Number(hours) > 14 || Number(minutes) > 59) return null;
  const moment = new Date(local.getTime() - (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000);
  return /^\d{4}-/.test(moment.toISOString()) ? moment : null;
}

function invalid(path: string, error: string, fix?: string): MetricsPushReading {
  return { kind: "invalid", code: "INVALID_REQUEST", error, path, ...(fix !== undefined && { fix }) };
}
