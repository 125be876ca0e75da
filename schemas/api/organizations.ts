import { z } from "zod";
import { RETENTION_DAYS } from "../plans.ts";
import { Thresholds, ThresholdsPatch } from "../thresholds.ts";
import { PAGE_LANGUAGES, PLANS } from "../vocabulary.ts";
import { Code, Name } from "./shared.ts";

const RETENTION =
  `For how many days events, metric samples, pings, check results and deliveries are kept; at most ${RETENTION_DAYS.free} on the free plan, ${RETENTION_DAYS.pro} on pro and ${RETENTION_DAYS.team} on team. ` +
  "What is older is deleted within a day, for good. Check results and deliveries are kept for 30 days at most, everything for 2 days at least. " +
  "Error groups and their counts, incidents and the audit log stay.";

const OrganizationConfig = z
  .object({
    name: z.string().meta({ example: "Acme" }),
    owner_email: z.string().nullable().meta({ description: "Is told of webhooks that were disabled and the like, once it is confirmed.", example: "ops@example.com" }),
    owner_email_confirmed: z.boolean().meta({ description: "Whether the code that was mailed to `owner_email` was given back with `POST /config/owner-email/confirm`." }),
    timezone: z.string().meta({ description: "An IANA time zone: where days begin in uptime graphs.", example: "Europe/Berlin" }),
    language: z.string().meta({ example: "en" }),
    default_thresholds: Thresholds.nullable().meta({ description: "What services without thresholds of their own are judged by; null: the built-in defaults." }),
    retention_days: z.int().meta({ description: RETENTION, example: 90 }),
    plan: z.enum(PLANS),
  })
  .meta({ id: "OrganizationConfig" });
export type OrganizationConfig = z.infer<typeof OrganizationConfig>;

export const OrganizationConfigAnswer = z.object({ config: OrganizationConfig });

export const UpdateOrganizationConfig = z
  .strictObject({
    name: Name.optional(),
    owner_email: z.email().max(254).refine((text) => text.lastIndexOf("@") <= 64, "must have at most 64 characters before the @").nullable().optional().meta({ example: "ops@example.com" }),
    timezone: z.string().min(1).max(64).optional().meta({ description: "An IANA time zone.", example: "Europe/Berlin" }),
    language: z.enum(PAGE_LANGUAGES).optional().meta({ example: "de" }),
    default_thresholds: ThresholdsPatch.optional().meta({ description: "Merged into what the organization has. A metric that is null gets its built-in default back; null for the whole restores all of them." }),
    retention_days: z.int().min(1).max(RETENTION_DAYS.team).optional().meta({ description: RETENTION, example: 90 }),
    plan: z.unknown().optional().meta({ description: "Read only: it is refused here.", readOnly: true }),
  })
  .meta({ id: "UpdateOrganizationConfig" });
export type UpdateOrganizationConfig = z.infer<typeof UpdateOrganizationConfig>;

export const ConfirmOwnerEmail = z.strictObject({ code: Code });
