import type { ServiceUptime } from "../../schemas/api/uptime.ts";
import type { IncidentSeverity, IncidentStatus, MaintenanceStatus, ServiceStatus } from "../../schemas/vocabulary.ts";

/** A moment as it travels: ISO 8601 in UTC with milliseconds. */
export type Moment = string;

/** What a page's visitors are shown of what is going on, and nothing that they are not. */
export interface PublicPage {
  id: string;
  name: string;
  slug: string;
  tagline: string | null;
  /** IANA name; of its organization. */
  timezone: string;
  createdAt: Moment;
  /** When anything that is shown here changed last. */
  updatedAt: Moment;
  /** The worst status of its services; null when it shows none. */
  overall: ServiceStatus | null;
  /** In the page's order. */
  services: PublicService[];
  /** Open ones, and those resolved within the last `PAST_DAYS`; newest first. */
  incidents: PublicIncident[];
  /** In progress and scheduled, by their start. */
  maintenance: PublicMaintenance[];
}

export interface PublicService {
  id: string;
  name: string;
  description: string;
  status: ServiceStatus;
  createdAt: Moment;
  updatedAt: Moment;
}

/** One that affects a service of the page, or none at all. */
export interface PublicIncident {
  id: string;
  title: string;
  status: IncidentStatus;
  severity: IncidentSeverity;
  startedAt: Moment;
  resolvedAt: Moment | null;
  createdAt: Moment;
  updatedAt: Moment;
  /** Affected services that the page shows, in its order. */
  services: { id: string; name: string }[];
  /** Newest first. */
  updates: PublicUpdate<IncidentStatus>[];
}

/** One that is about a service of the page, or about none at all. */
export interface PublicMaintenance {
  id: string;
  title: string;
  description: string;
  status: MaintenanceStatus;
  startsAt: Moment;
  endsAt: Moment;
  /** RFC 5545; null for one that happens once. */
  rrule: string | null;
  createdAt: Moment;
  updatedAt: Moment;
  /** As of an incident. */
  services: { id: string; name: string }[];
  /** Newest first. */
  updates: PublicUpdate<MaintenanceStatus>[];
}

export interface PublicUpdate<Status> {
  id: string;
  status: Status;
  message: string;
  createdAt: Moment;
}

/** Uptime of the page's services by their id. */
export type PageUptime = Readonly<Record<string, ServiceUptime>>;

/** What happened on a page, for its history and its feeds; both newest first. */
export interface PageRecord {
  incidents: PublicIncident[];
  /** Of any status. */
  maintenance: PublicMaintenance[];
}

/** Days for which a page itself shows resolved incidents; its history shows all. */
export const PAST_DAYS = 14;

/** Days of uptime that a page shows. */
export const UPTIME_DAYS = 90;
