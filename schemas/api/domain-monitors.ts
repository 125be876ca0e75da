import { z } from "zod";
import { EXPIRY_STATUSES, LOOKUP_METHODS } from "../vocabulary.ts";
import { limit, Offset, Timestamp } from "./shared.ts";

const Domain = z.string().min(1).max(255).meta({ description: "A domain without protocol. The part of it that is registered is watched and kept, in its ASCII form: example.co.uk for shop.example.co.uk.", example: "example.com" });
const AlertDays = z.int().min(1).max(365).meta({ description: "Days before the registration expires at which the status becomes warning and domain.expiring is sent.", example: 30 });
const Enabled = z.boolean().meta({ description: "false pauses the monitor." });
const ServiceId = z.string().nullable().meta({ description: "The service that has a major outage while the registration has expired; null unlinks." });
const Channels = z.array(z.string()).max(100).meta({ description: "Ids of notification channels.", example: [] });
const Method = z.enum(LOOKUP_METHODS).meta({ description: "auto asks by RDAP, and by WHOIS where that has no answer." });
const Status = z.enum(EXPIRY_STATUSES).meta({ description: "ok; warning within alert_days of the expiry; critical within 3 days of it and afterwards; error when the expiry could not be looked up." });
const Days = z.int().meta({ description: "Whole days; negative once it has expired.", example: 57 });

const ShownRegistration = z
  .object({
    registrar: z.string().nullable().meta({ example: "Example Registrar Ltd" }),
    registrar_url: z.string().nullable(),
    created_date: Timestamp.nullable(),
    updated_date: Timestamp.nullable(),
    expiry_date: Timestamp.nullable().meta({ description: "Null where the registry does not publish it." }),
    days_until_expiry: Days.nullable(),
    nameservers: z.array(z.string()),
    status: z.array(z.string()),
  })
  .meta({ id: "Registration" });

export const DomainMonitor = z
  .object({
    id: z.uuid(),
    domain: z.string().meta({ example: "example.com" }),
    alert_days: z.int(),
    lookup_method: Method,
    enabled: z.boolean(),
    status: Status.nullable().meta({ description: "Of the last look-up; null before the first." }),
    last_error: z.string().nullable().meta({ description: "Why the last look-up found no expiry." }),
    last_checked_at: Timestamp.nullable(),
    registration: ShownRegistration.nullable().meta({ description: "As it was found last." }),
    service_id: z.uuid().nullable(),
    notification_channels: z.array(z.uuid()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "DomainMonitor" });
export type DomainMonitor = z.infer<typeof DomainMonitor>;

export const DomainMonitorInFull = DomainMonitor.extend({
  check_history: z
    .array(z.object({ checked_at: Timestamp, status: Status, days_until_expiry: Days.nullable(), error: z.string().nullable() }))
    .meta({ description: "The look-ups of the last 30 days, newest first; days_until_expiry is null where none was found." }),
}).meta({ id: "DomainMonitorInFull" });
export type DomainMonitorInFull = z.infer<typeof DomainMonitorInFull>;

export const DomainMonitorList = z.object({ domain_monitors: z.array(DomainMonitor) });

export const DomainMonitorListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type DomainMonitorListQuery = z.infer<typeof DomainMonitorListQuery>;

export const CreateDomainMonitor = z
  .strictObject({
    domain: Domain,
    alert_days: AlertDays.default(30),
    lookup_method: Method.default("auto"),
    enabled: Enabled.default(true),
    service_id: ServiceId.default(null),
    notification_channels: Channels.default([]),
  })
  .meta({ id: "CreateDomainMonitor" });
export type CreateDomainMonitor = z.infer<typeof CreateDomainMonitor>;

export const UpdateDomainMonitor = z
  .strictObject({
    alert_days: AlertDays.optional(),
    lookup_method: Method.optional(),
    enabled: Enabled.optional(),
    service_id: ServiceId.optional(),
    notification_channels: Channels.optional(),
  })
  .meta({ id: "UpdateDomainMonitor" });
export type UpdateDomainMonitor = z.infer<typeof UpdateDomainMonitor>;

/** Answer of POST /domain-monitors/{id}. */
export const DomainCheck = z
  .object({
    status: Status,
    days_until_expiry: Days.nullable(),
    expires_on: Timestamp.nullable(),
    registrar: z.string().nullable(),
    name_servers: z.array(z.string()),
    error: z.string().nullable(),
  })
  .meta({ id: "DomainCheck" });
export type DomainCheck = z.infer<typeof DomainCheck>;
