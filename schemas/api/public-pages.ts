import { z } from "zod";
import { INCIDENT_SEVERITIES, INCIDENT_STATUSES, MAINTENANCE_STATUSES } from "../vocabulary.ts";
import { Timestamp } from "./shared.ts";

/** Statuspage's words for what Pharos calls a service's status. */
const COMPONENT_STATUSES = ["operational", "under_maintenance", "degraded_performance", "partial_outage", "major_outage"] as const;

const ALWAYS = "What Statuspage says and Pharos has nothing for: always the same value.";

const Component = z
  .strictObject({
    id: z.uuid(),
    name: z.string().meta({ example: "Checkout" }),
    status: z.enum(COMPONENT_STATUSES).meta({ example: "degraded_performance" }),
    created_at: Timestamp,
    updated_at: Timestamp,
    position: z.int().min(1).meta({ description: "The service's place on the page, from 1.", example: 1 }),
    description: z.string().nullable().meta({ description: "Null when it has none." }),
    showcase: z.literal(true).meta({ description: ALWAYS }),
    start_date: z.iso.date().meta({ description: "The day in UTC from which its uptime is known.", example: "2026-01-31" }),
    group_id: z.null().meta({ description: ALWAYS }),
    page_id: z.uuid(),
    group: z.literal(false).meta({ description: ALWAYS }),
    only_show_if_degraded: z.literal(false).meta({ description: ALWAYS }),
  })
  .meta({ id: "SummaryComponent" });

function updates<Status extends z.ZodType>(status: Status) {
  const update = z.strictObject({
    id: z.uuid(),
    status,
    body: z.string().meta({ description: "Plain text.", example: "A database fails over; we are watching it." }),
    incident_id: z.uuid(),
    created_at: Timestamp,
    updated_at: Timestamp,
    display_at: Timestamp,
    affected_components: z.null().meta({ description: ALWAYS }),
    deliver_notifications: z.literal(true).meta({ description: ALWAYS }),
    custom_tweet: z.null().meta({ description: ALWAYS }),
    tweet_id: z.null().meta({ description: ALWAYS }),
  });
  return z.array(update).meta({ description: "Newest first." });
}

/** What incidents and maintenance have in common. */
const happening = {
  id: z.uuid(),
  name: z.string().meta({ example: "Payments fail" }),
  created_at: Timestamp,
  updated_at: Timestamp,
  monitoring_at: Timestamp.nullable().meta({ description: "When an update first said monitoring." }),
  resolved_at: z.null().meta({ description: "Only what is not resolved is listed." }),
  shortlink: z.url().meta({ description: "Where people read about it." }),
  page_id: z.uuid(),
  components: z.array(Component).meta({ description: "Affected services that the page shows, in its order." }),
  reminder_intervals: z.null().meta({ description: ALWAYS }),
};

const Incident = z
  .strictObject({
    ...happening,
    status: z.enum(INCIDENT_STATUSES).exclude(["resolved"]),
    impact: z.enum(INCIDENT_SEVERITIES).meta({ example: "major" }),
    started_at: Timestamp,
    incident_updates: updates(z.enum(INCIDENT_STATUSES)),
  })
  .meta({ id: "SummaryIncident" });

const Maintenance = z
  .strictObject({
    ...happening,
    status: z.enum(MAINTENANCE_STATUSES).extract(["scheduled", "in_progress"]),
    impact: z.literal("maintenance"),
    started_at: Timestamp.meta({ description: "When it was announced, as Statuspage has it." }),
    incident_updates: updates(z.enum(MAINTENANCE_STATUSES)),
    scheduled_for: Timestamp,
    scheduled_until: Timestamp,
  })
  .meta({ id: "SummaryMaintenance" });

const Status = z
  .strictObject({
    indicator: z.enum(["none", "minor", "major", "critical", "maintenance"]).meta({ description: "By the worst of the services' statuses and of the open incidents.", example: "minor" }),
    description: z.string().meta({ description: "The same in Statuspage's English words.", example: "Partially Degraded Service" }),
  })
  .meta({ id: "SummaryStatus" });

export const PageSummary = z
  .strictObject({
    page: z.strictObject({
      id: z.uuid(),
      name: z.string().meta({ example: "Acme" }),
      url: z.url().meta({ example: "https://status.example.com/" }),
      time_zone: z.string().meta({ description: "IANA name.", example: "Europe/Berlin" }),
      updated_at: Timestamp.meta({ description: "When anything that the page shows changed last." }),
    }),
    components: z.array(Component).meta({ description: "The page's services in its order." }),
    incidents: z.array(Incident).meta({ description: "Unresolved ones, newest first." }),
    scheduled_maintenances: z.array(Maintenance).meta({ description: "In progress and scheduled, by their start." }),
    status: Status,
  })
  .meta({ id: "PageSummary", description: "A page's state with the fields of Statuspage's /api/v2/summary.json, so that what reads those reads this." });
export type PageSummary = z.infer<typeof PageSummary>;
