import { z } from "zod";
import { HEARTBEAT_STATUSES, PING_STATUSES, SCHEDULE_TYPES } from "../vocabulary.ts";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

const YEAR_SECONDS = 31_536_000;

/** The least that a monitor waits beyond the expected moment; also what it has unless told otherwise. */
const SHORTEST_GRACE_SECONDS = 60;

const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/, "must be 3 to 63 lower-case letters, digits and inner dashes")
  .meta({ description: "Names the monitor in POST /api/heartbeat/{slug}; unique in the organization. Made from the name when left out.", example: "nightly-backup" });
const IntervalSeconds = z.int().min(1).max(YEAR_SECONDS).meta({ description: "A ping is expected so long after the last one.", example: 86400 });
const Cron = z.string().max(200).meta({ description: "Five fields, or six with seconds in front.", example: "0 3 * * *" });
const Timezone = z.string().max(100).meta({ description: "IANA name; cron times are wall-clock times there.", example: "Europe/Berlin" });
const GraceSeconds = z.int().min(SHORTEST_GRACE_SECONDS).max(YEAR_SECONDS).meta({ description: "How long after the expected moment the monitor is declared down.", example: 300 });
const MaxRuntimeSeconds = z
  .int()
  .min(1)
  .max(YEAR_SECONDS)
  .nullable()
  .meta({ description: "A run that sent start and neither ok nor fail within this time is down. While it runs, this limit counts in place of the schedule.", example: 3600 });
const Enabled = z.boolean().meta({ description: "false pauses the monitor: pings are kept, nothing is expected. true lets it wait for its next ping." });
const ServiceId = z.string().nullable().meta({ description: "The service whose status follows the monitor; null unlinks." });
const Channels = z.array(z.string()).max(50).meta({ description: "Ids of notification channels that hear of the monitor.", example: [] });
const RunningSince = Timestamp.nullable().meta({ description: "The start of the longest run in progress; null when none is." });
const RunExceeded = z.boolean().meta({ description: "Whether a run in progress was found to take longer than max_runtime_seconds." });
const Warning = z.string().nullable().meta({
  description: "What is odd about the pace of the pings: three oks within a third of the time between two. Null once they are regular again.",
  example: "Pings come every 10 s; a ping is expected every 3600 s: check the job's schedule.",
});

export const HeartbeatMonitor = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Nightly backup" }),
    slug: z.string().meta({ example: "nightly-backup" }),
    schedule_type: z.enum(SCHEDULE_TYPES),
    interval_seconds: z.int().nullable(),
    cron: z.string().nullable(),
    timezone: z.string(),
    grace_seconds: z.int(),
    max_runtime_seconds: z.int().nullable(),
    enabled: z.boolean(),
    status: z.enum(HEARTBEAT_STATUSES).meta({ description: "new until the first ok; grace once a ping is late; down once the grace is over too, or after a fail." }),
    last_ping_at: Timestamp.nullable(),
    next_expected_at: Timestamp.nullable(),
    last_duration_ms: z.int().nullable(),
    running_since: RunningSince,
    run_exceeded: RunExceeded,
    warning: Warning,
    service_id: z.uuid().nullable(),
    notification_channels: z.array(z.uuid()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "HeartbeatMonitor" });
export type HeartbeatMonitor = z.infer<typeof HeartbeatMonitor>;

export const HeartbeatMonitorList = z.object({ heartbeat_monitors: z.array(HeartbeatMonitor) });

export const HeartbeatMonitorListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type HeartbeatMonitorListQuery = z.infer<typeof HeartbeatMonitorListQuery>;

export const CreateHeartbeatMonitor = z
  .strictObject({
    name: Name.meta({ example: "Nightly backup" }),
    slug: Slug.optional(),
    schedule_type: z.enum(SCHEDULE_TYPES).optional().meta({ description: "When left out: cron if `cron` is given, else interval." }),
    interval_seconds: IntervalSeconds.optional(),
    cron: Cron.optional(),
    timezone: Timezone.default("UTC"),
    grace_seconds: GraceSeconds.default(SHORTEST_GRACE_SECONDS),
    max_runtime_seconds: MaxRuntimeSeconds.default(null),
    enabled: Enabled.default(true),
    service_id: ServiceId.default(null),
    notification_channels: Channels.default([]),
  })
  .meta({ id: "CreateHeartbeatMonitor" });
export type CreateHeartbeatMonitor = z.infer<typeof CreateHeartbeatMonitor>;

export const UpdateHeartbeatMonitor = z
  .strictObject({
    name: Name.optional(),
    slug: Slug.optional(),
    schedule_type: z.enum(SCHEDULE_TYPES).optional(),
    interval_seconds: IntervalSeconds.optional(),
    cron: Cron.optional(),
    timezone: Timezone.optional(),
    grace_seconds: GraceSeconds.optional(),
    max_runtime_seconds: MaxRuntimeSeconds.optional(),
    enabled: Enabled.optional(),
    service_id: ServiceId.optional(),
    notification_channels: Channels.optional(),
  })
  .meta({ id: "UpdateHeartbeatMonitor" });
export type UpdateHeartbeatMonitor = z.infer<typeof UpdateHeartbeatMonitor>;

/** Answer of POST /api/heartbeat/{id or slug}. */
export const PingAnswer = z
  .object({
    success: z.literal(true),
    monitor_id: z.uuid(),
    status: z.enum(HEARTBEAT_STATUSES),
    received_at: Timestamp,
    next_expected_at: Timestamp.nullable().meta({ description: "Null when the ping moves nothing (start, log) and while the monitor is down or paused." }),
  })
  .meta({ id: "PingAnswer" });

/** Answer of GET /api/heartbeat/{id or slug}. */
export const HeartbeatState = z
  .object({
    monitor_id: z.uuid(),
    status: z.enum(HEARTBEAT_STATUSES),
    last_ping_at: Timestamp.nullable(),
    next_expected_at: Timestamp.nullable(),
    last_duration_ms: z.int().nullable(),
    running_since: RunningSince,
    run_exceeded: RunExceeded,
    warning: Warning,
    recent: z
      .array(z.object({ received_at: Timestamp, status: z.enum(PING_STATUSES), run_id: z.string().nullable(), duration_ms: z.int().nullable(), message: z.string().nullable() }))
      .meta({ description: "The last 100 pings, newest first." }),
  })
  .meta({ id: "HeartbeatState" });
export type HeartbeatState = z.infer<typeof HeartbeatState>;
