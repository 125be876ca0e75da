import { z } from "zod";
import { EXPIRY_STATUSES } from "../vocabulary.ts";
import { limit, Offset, Timestamp } from "./shared.ts";

const Domain = z.string().min(1).max(255).meta({ description: "A host name without protocol, or an IP address. International names are kept in their ASCII form.", example: "shop.example.com" });
const Port = z.int().min(1).max(65_535).meta({ description: "Where TLS is spoken from the first byte on; STARTTLS is not.", example: 443 });
const AlertDays = z.int().min(1).max(365).meta({ description: "Days before the certificate expires at which the status becomes warning and ssl.expiring is sent.", example: 30 });
const Enabled = z.boolean().meta({ description: "false pauses the monitor; true checks at once." });
const ServiceId = z.string().nullable().meta({ description: "The service that has a major outage while the certificate is not valid; null unlinks." });
const Channels = z.array(z.string()).max(100).meta({ description: "Ids of notification channels.", example: [] });
const Status = z.enum(EXPIRY_STATUSES).meta({ description: "ok; warning within alert_days of the expiry; critical when the certificate is not valid or expires within 3 days; error when it could not be fetched." });
const Days = z.int().meta({ description: "Whole days; negative once it has expired.", example: 57 });

const Certificate = z
  .object({
    issuer: z.string().meta({ example: "CN=R11, O=Let's Encrypt" }),
    subject: z.string().meta({ example: "CN=shop.example.com" }),
    valid_from: Timestamp,
    valid_to: Timestamp,
    days_until_expiry: Days,
    is_valid: z.boolean().meta({ description: "In force, for this host, from a trusted authority with its whole chain, and with a strong key and signature." }),
    invalid_reason: z.string().nullable().meta({ description: "Why it is not valid, in sentences." }),
  })
  .meta({ id: "Certificate" });

const CertificateInFull = Certificate.extend({
  serial_number: z.string(),
  fingerprint: z.string().meta({ description: "SHA-256." }),
  san: z.array(z.string()).meta({ description: "The names and addresses that it is for.", example: ["shop.example.com", "www.shop.example.com"] }),
}).meta({ id: "CertificateInFull" });
/** As it is stored too. */
export type CertificateInFull = z.infer<typeof CertificateInFull>;

export const SslMonitor = z
  .object({
    id: z.uuid(),
    domain: z.string().meta({ example: "shop.example.com" }),
    port: z.int(),
    alert_days: z.int(),
    enabled: z.boolean(),
    status: Status.nullable(),
    last_error: z.string().nullable().meta({ description: "Why the last check could not fetch the certificate, or why the certificate is not valid." }),
    last_checked_at: Timestamp.nullable(),
    certificate: Certificate.nullable().meta({ description: "The one that was fetched last." }),
    service_id: z.uuid().nullable(),
    notification_channels: z.array(z.uuid()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "SslMonitor" });
export type SslMonitor = z.infer<typeof SslMonitor>;

export const SslMonitorInFull = SslMonitor.extend({
  certificate: CertificateInFull.nullable(),
  check_history: z
    .array(z.object({ checked_at: Timestamp, status: Status, days_until_expiry: Days.nullable(), is_valid: z.boolean().nullable(), error: z.string().nullable() }))
    .meta({ description: "The checks of the last 30 days, newest first; days_until_expiry and is_valid are null where no certificate could be fetched." }),
}).meta({ id: "SslMonitorInFull" });
export type SslMonitorInFull = z.infer<typeof SslMonitorInFull>;

export const SslMonitorList = z.object({ ssl_monitors: z.array(SslMonitor) });

export const SslMonitorListQuery = z.object({ limit: limit(50, 100), offset: Offset });
export type SslMonitorListQuery = z.infer<typeof SslMonitorListQuery>;

export const CreateSslMonitor = z
  .strictObject({
    domain: Domain,
    port: Port.default(443),
    alert_days: AlertDays.default(30),
    service_id: ServiceId.default(null),
    notification_channels: Channels.default([]),
  })
  .meta({ id: "CreateSslMonitor" });
export type CreateSslMonitor = z.infer<typeof CreateSslMonitor>;

export const UpdateSslMonitor = z
  .strictObject({
    alert_days: AlertDays.optional(),
    enabled: Enabled.optional(),
    service_id: ServiceId.optional(),
    notification_channels: Channels.optional(),
  })
  .meta({ id: "UpdateSslMonitor" });
export type UpdateSslMonitor = z.infer<typeof UpdateSslMonitor>;

/** Answer of POST /ssl-monitors/{id}. */
export const SslCheck = z
  .object({
    status: Status,
    days_until_expiry: Days.nullable(),
    valid_to: Timestamp.nullable(),
    issuer: z.string().nullable(),
    subject: z.string().nullable(),
    error: z.string().nullable(),
    response_time_ms: z.int(),
  })
  .meta({ id: "SslCheck" });
export type SslCheck = z.infer<typeof SslCheck>;
