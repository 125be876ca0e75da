/**
 * The words of Pharos. Every closed set of values stands here once, as a const array:
 * zod schemas, Postgres enums, TypeScript types and OpenAPI are all made from these.
 */

export const PLANS = ["free", "pro", "team"] as const;
export type Plan = (typeof PLANS)[number];

/** Ordered from best to worst: the index is the severity, `worstStatus` relies on it. */
export const SERVICE_STATUSES = ["operational", "maintenance", "degraded", "partial_outage", "major_outage"] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

/** Who may have an opinion on a service's status. */
export const OPINION_SOURCES = ["manual", "incidents", "maintenance", "monitors", "metrics"] as const;
export type OpinionSource = (typeof OPINION_SOURCES)[number];

export const INCIDENT_STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

export const INCIDENT_SEVERITIES = ["minor", "major", "critical"] as const;
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number];

export const HEARTBEAT_STATUSES = ["new", "up", "grace", "down", "paused"] as const;
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number];

export const PING_STATUSES = ["ok", "start", "fail", "log"] as const;
export type PingStatus = (typeof PING_STATUSES)[number];

export const SCHEDULE_TYPES = ["interval", "cron"] as const;
export type ScheduleType = (typeof SCHEDULE_TYPES)[number];

/** Monitors that Pharos checks by itself. */
export const MONITOR_KINDS = ["uptime", "ssl", "domain"] as const;
export type MonitorKind = (typeof MONITOR_KINDS)[number];

export const UPTIME_STATUSES = ["pending", "up", "down", "degraded", "paused", "maintenance"] as const;
export type UptimeStatus = (typeof UPTIME_STATUSES)[number];

/** What a check of a certificate or of a registration says. */
export const EXPIRY_STATUSES = ["ok", "warning", "critical", "error"] as const;
export type ExpiryStatus = (typeof EXPIRY_STATUSES)[number];

export const LOOKUP_METHODS = ["auto", "rdap", "whois"] as const;
export type LookupMethod = (typeof LOOKUP_METHODS)[number];

export const ERROR_STATUSES = ["new", "resolved", "regressed", "ignored"] as const;
export type ErrorStatus = (typeof ERROR_STATUSES)[number];

export const ERROR_CATEGORIES = ["javascript", "promise", "network", "resource", "chunk_load", "security", "message"] as const;
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

export const PRIORITIES = ["critical", "high", "medium", "low"] as const;
export type Priority = (typeof PRIORITIES)[number];

export const BEACON_EVENT_TYPES = ["error", "message", "vital"] as const;
export type BeaconEventType = (typeof BEACON_EVENT_TYPES)[number];

/** Events that a webhook may subscribe to. */
export const EVENT_TYPES = [
  "incident.created",
  "incident.updated",
  "incident.resolved",
  "incident.deleted",
  "service.status_changed",
  "monitor.down",
  "monitor.up",
  "heartbeat.missed",
  "ssl.expiring",
  "domain.expiring",
  "error.new",
  "error.regressed",
  "maintenance.scheduled",
  "maintenance.started",
  "maintenance.completed",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const DELIVERY_STATUSES = ["pending", "delivered", "failed", "abandoned"] as const;

export const DELIVERY_TRIGGERS = ["event", "test", "redeliver"] as const;
export type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number];

/**
 * Why a channel is told something: an event of the organization, a workflow's step, a person who tries the channel, Pharos itself,
 * or the code that confirms a number. */
export const NOTIFICATION_TRIGGERS = ["event", "workflow", "test", "notice", "code"] as const;
export type NotificationTrigger = (typeof NOTIFICATION_TRIGGERS)[number];


export const DISABLED_REASONS = ["retries_exhausted", "gone", "manual"] as const;

export const SCOPES = [
  "*:*",
  "incidents:read",
  "incidents:write",
  "services:read",
  "services:write",
  "status_pages:read",
  "status_pages:write",
  "monitors:read",
  "monitors:write",
  "maintenance:read",
  "maintenance:write",
  "notifications:read",
  "notifications:write",
  "config:read",
  "config:write",
  "heartbeat:write",
  "metrics:write",
  "workflows:write",
  "audit_log:read",
] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ["edge", "processor", "scheduler", "control-plane"] as const;
export type Role = (typeof ROLES)[number];

/** Topics of the event log; `beacons-overflow` takes beacons of organizations that send more than their share. `replies` is ephemeral and not listed: nothing reads it twice. */
export const TOPICS = ["beacons", "metrics", "heartbeats", "dead-letter", "beacons-overflow"] as const;
export type Topic = (typeof TOPICS)[number];

/** A dead letter is `rows_stand` while what it left in ClickHouse is being deleted, then `open` until somebody answers it. */
export const DEAD_LETTER_STATES = ["rows_stand", "open", "replayed", "discarded"] as const;
export type DeadLetterState = (typeof DEAD_LETTER_STATES)[number];

/** What a status page can look like (conventions §3). */
export const THEME_MODES = ["light", "dark", "system"] as const;
export type ThemeMode = (typeof THEME_MODES)[number];
export const PAGE_THEMES = ["classic", "minimal", "compact", "high_contrast"] as const;
export type PageTheme = (typeof PAGE_THEMES)[number];
export const PAGE_VISIBILITIES = ["public", "unlisted", "password", "ip_restricted", "private"] as const;
export type PageVisibility = (typeof PAGE_VISIBILITIES)[number];
export const ANNOUNCEMENT_TYPES = ["info", "warning", "critical", "success"] as const;
export type AnnouncementType = (typeof ANNOUNCEMENT_TYPES)[number];
export const FONT_FAMILIES = ["system", "inter", "roboto", "open_sans", "lato", "georgia", "mono"] as const;
export type FontFamily = (typeof FONT_FAMILIES)[number];
export const HEADER_STYLES = ["left", "center", "banner"] as const;
export type HeaderStyle = (typeof HEADER_STYLES)[number];
export const BORDER_RADII = ["none", "sm", "md", "lg", "full"] as const;
export type BorderRadius = (typeof BORDER_RADII)[number];
/** Of a page's own domain: whether its owner has proven that it is theirs. */
export const DOMAIN_STATUSES = ["pending", "verified", "failed"] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];
/** The languages that pages are shipped in, as BCP 47 tags. */
export const PAGE_LANGUAGES = ["ar", "cs", "da", "de", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "nb", "nl", "pl", "pt-BR", "sv", "tr", "zh-CN"] as const;
export type PageLanguage = (typeof PAGE_LANGUAGES)[number];

export const DESIGN_STATES = ["draft", "published", "archived"] as const;
export const SECTION_TYPES = [
  "header",
  "announcement",
  "overall_status",
  "active_incidents",
  "scheduled_maintenance",
  "services_list",
  "uptime_history",
  "metrics",
  "incident_history",
  "subscribe",
  "footer",
] as const;
export type SectionType = (typeof SECTION_TYPES)[number];
export const TEMPLATE_MODES = ["default", "custom"] as const;

export const CHANNEL_TYPES = ["slack", "webhook", "discord", "teams", "pagerduty", "sms"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

export const MAINTENANCE_STATUSES = ["scheduled", "in_progress", "completed", "cancelled"] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

export const WORKFLOW_TRIGGERS = ["manual", "event", "schedule"] as const;
export type WorkflowTrigger = (typeof WORKFLOW_TRIGGERS)[number];
export const WORKFLOW_RUN_STATUSES = ["queued", "running", "waiting", "succeeded", "failed"] as const;

/** What became of a step when it was carried out; `retried`: it failed and is tried again. */
export const STEP_OUTCOMES = ["succeeded", "failed", "retried"] as const;

/** Why a mail is sent: to confirm a subscription, to tell a subscriber of an event, or to tell somebody of the organization something. */
export const MAIL_KINDS = ["confirmation", "announcement", "notice"] as const;
export const MAIL_STATUSES = ["pending", "sent", "failed"] as const;

export const SUBSCRIBER_KINDS = ["email", "webhook"] as const;
export type SubscriberKind = (typeof SUBSCRIBER_KINDS)[number];
export const SUBSCRIBER_STATES = ["pending", "active", "quarantined", "unsubscribed"] as const;
