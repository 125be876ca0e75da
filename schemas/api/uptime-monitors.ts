import { z } from "zod";
import { UPTIME_STATUSES } from "../vocabulary.ts";
import { requestHeaders } from "./request-headers.ts";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

/** The methods that a check may use. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** What one check found. */
const CHECK_STATUSES = ["up", "degraded", "down"] as const;

const MOST_TIMEOUT_MS = 30_000;
const DAY_SECONDS = 86_400;

/** Headers that say how a request is transferred (RFC 9110 §7.6.1). */
const RESERVED_HEADER = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|proxy-.*|http2-.*|:.*)$/i;

const Url = z.string().max(2048).meta({ description: "http or https, an address that is public, no credentials.", example: "https://www.example.com/health" });
const Method = z.enum(METHODS).meta({ example: "GET" });
const Headers = requestHeaders({ reserved: RESERVED_HEADER, sender: "request" }).meta({ description: "Sent with each check, but not to another origin that a redirect leads to.", example: { "X-Probe": "pharos" } });
const Body = z.string().max(100_000).nullable().meta({ description: "Sent as it is; name its type in `headers`." });
const IntervalSeconds = z.int().min(30).max(DAY_SECONDS).meta({ example: 60 });
const TimeoutMs = z.int().min(100).max(MOST_TIMEOUT_MS).meta({ description: "For everything together: look-up, connection, TLS, redirects and the whole answer.", example: 10_000 });
const ExpectedStatusCodes = z.array(z.int().min(100).max(599)).max(100).meta({ description: "Empty: any of 200 to 299. A redirect that is named here is not followed.", example: [] });
const RequiredKeyword = z.string().min(1).max(1_000).nullable().meta({ description: "A text that the first MiB of the answer must hold; upper and lower case differ." });
const FollowRedirects = z.boolean().meta({ description: "Up to ten. Each is judged as the first address was." });
const VerifySsl = z.boolean().meta({ description: "False accepts any certificate." });
const Count = z.int().min(1).max(10);
const FailuresToDown = Count.meta({ description: "Failed checks in a row until the monitor is down; after the first the next look follows within about five seconds. Also the number of slow checks in a row until it is degraded." });
const SuccessesToUp = Count.meta({ description: "Good checks in a row until a monitor that is down or degraded is up again." });
const DegradedAfterMs = z.int().min(1).max(MOST_TIMEOUT_MS).nullable().meta({ description: "A check that takes longer is slow; null for never.", example: 2_000 });
const CreateIncident = z.boolean().meta({ description: "Opens an incident when the monitor goes down and resolves it when it is up again." });
const ServiceId = z.string().nullable().meta({ description: "The service whose status follows the monitor; null unlinks." });
const Channels = z.array(z.string()).max(50).meta({ description: "Ids of notification channels that hear of the monitor.", example: [] });
const Enabled = z.boolean().meta({ description: "False pauses the monitor. True lets it begin anew, as pending." });

const Phase = z.int().nullable();

export const UptimeMonitor = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Shop" }),
    url: z.string().meta({ example: "https://www.example.com/health" }),
    interval_seconds: z.int(),
    enabled: z.boolean(),
    status: z.enum(UPTIME_STATUSES).meta({ description: "pending until the first checks have told; degraded while answers are slow; paused while not enabled." }),
    last_checked_at: Timestamp.nullable(),
    service_id: z.uuid().nullable(),
    method: z.string().meta({ example: "GET" }),
    headers: z.record(z.string(), z.string()).meta({ description: "Values are masked. A masked value that is sent back keeps the stored one, while the URL stays at its origin." }),
    body: z.string().nullable().meta({ description: "Masked, when there is one." }),
    timeout_ms: z.int(),
    expected_status_codes: z.array(z.int()),
    required_keyword: z.string().nullable(),
    follow_redirects: z.boolean(),
    verify_ssl: z.boolean(),
    failures_to_down: z.int(),
    successes_to_up: z.int(),
    degraded_after_ms: z.int().nullable(),
    create_incident: z.boolean(),
    notification_channels: z.array(z.uuid()),
    last_response_time_ms: z.int().nullable(),
    last_status_code: z.int().nullable(),
    last_error: z.string().nullable().meta({ description: "Why the last check failed; null when it did not.", example: null }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "UptimeMonitor" });
export type UptimeMonitor = z.infer<typeof UptimeMonitor>;

export const UptimeMonitorList = z.object({ monitors: z.array(UptimeMonitor) });

export const UptimeMonitorListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type UptimeMonitorListQuery = z.infer<typeof UptimeMonitorListQuery>;

export const CreateUptimeMonitor = z
  .strictObject({
    name: Name.meta({ example: "Shop" }),
    url: Url,
    method: Method.default("GET"),
    headers: Headers.default({}),
    body: Body.default(null),
    interval_seconds: IntervalSeconds.default(60),
    timeout_ms: TimeoutMs.default(10_000),
    expected_status_codes: ExpectedStatusCodes.default([]),
    required_keyword: RequiredKeyword.default(null),
    follow_redirects: FollowRedirects.default(true),
    verify_ssl: VerifySsl.default(true),
    failures_to_down: FailuresToDown.default(2),
    successes_to_up: SuccessesToUp.default(1),
    degraded_after_ms: DegradedAfterMs.default(null),
    create_incident: CreateIncident.default(false),
    enabled: Enabled.default(true),
    service_id: ServiceId.default(null),
    notification_channels: Channels.default([]),
  })
  .meta({ id: "CreateUptimeMonitor" });
export type CreateUptimeMonitor = z.infer<typeof CreateUptimeMonitor>;

export const UpdateUptimeMonitor = z
  .strictObject({
    name: Name.optional(),
    url: Url.optional(),
    method: Method.optional(),
    headers: Headers.optional().meta({ description: "Replaces all headers.", example: { "X-Probe": "pharos" } }),
    body: Body.optional(),
    interval_seconds: IntervalSeconds.optional(),
    timeout_ms: TimeoutMs.optional(),
    expected_status_codes: ExpectedStatusCodes.optional(),
    required_keyword: RequiredKeyword.optional(),
    follow_redirects: FollowRedirects.optional(),
    verify_ssl: VerifySsl.optional(),
    failures_to_down: FailuresToDown.optional(),
    successes_to_up: SuccessesToUp.optional(),
    degraded_after_ms: DegradedAfterMs.optional(),
    create_incident: CreateIncident.optional(),
    enabled: Enabled.optional(),
    service_id: ServiceId.optional(),
    notification_channels: Channels.optional(),
  })
  .meta({ id: "UpdateUptimeMonitor" });
export type UpdateUptimeMonitor = z.infer<typeof UpdateUptimeMonitor>;

const CheckStatus = z.enum(CHECK_STATUSES).meta({ description: "Of this check alone: down when it failed, degraded when it was slow." });
const Error = z.string().nullable().meta({ description: "Why the check failed.", example: null });

/** Answer of POST /uptime-monitors/{id}. */
export const UptimeCheck = z
  .object({ status: CheckStatus, response_time_ms: z.int().nullable(), status_code: z.int().nullable().meta({ example: 200 }), error: Error, checked_at: Timestamp })
  .meta({ id: "UptimeCheck" });
export type UptimeCheck = z.infer<typeof UptimeCheck>;

const Moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional();

export const UptimeResultsQuery = z.object({
  from: Moment.meta({ description: "First moment, ISO 8601; 24 hours before `to` when left out." }),
  to: Moment.meta({ description: "End, not included, ISO 8601; now when left out." }),
});
export type UptimeResultsQuery = z.infer<typeof UptimeResultsQuery>;

const Percent = z.number().min(0).max(100).nullable();

/** Answer of GET /uptime-monitors/{id}/results. */
export const UptimeResults = z
  .object({
    results: z
      .array(z.object({ checked_at: Timestamp, status: CheckStatus, status_code: z.int().nullable(), error: Error, response_time_ms: Phase, dns_ms: Phase, connect_ms: Phase, tls_ms: Phase, first_byte_ms: Phase }))
      .meta({ description: "Newest first, at most 1,000. Of checks that followed redirects the phases are added up; a phase that was not reached is null." }),
    hours: z.array(z.object({ hour: Timestamp, checks: z.int(), uptime_percent: Percent, p50_ms: Phase, p95_ms: Phase, p99_ms: Phase })).meta({ description: "Oldest first; hours without checks are left out. The percentiles are of checks that were not down." }),
    uptime_percent: Percent.meta({ description: "The share of checks that were not down; null without checks." }),
  })
  .meta({ id: "UptimeResults" });
export type UptimeResults = z.infer<typeof UptimeResults>;
