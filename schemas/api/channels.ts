import { z } from "zod";
import { CHANNEL_TYPES } from "../vocabulary.ts";
import { Code, limit, Name, Offset, Timestamp } from "./shared.ts";

const Type = z.enum(CHANNEL_TYPES).meta({ example: "slack" });
const HookUrl = z.string().min(1).max(2048);
const Secret = z.string().min(1).max(1024);

/** The fields of all types; which of them a type has is decided by `domain/channels/check-config.ts`. */
const Config = {
  webhook_url: HookUrl.optional().meta({ description: "slack, discord, teams: the incoming webhook's URL, https and public.", example: "https://hooks.slack.com/services/T000/B000/XXXX" }),
  phone_number: z.string().min(1).max(20).optional().meta({ description: "sms: in international format (E.164).", example: "+4915112345678" }),
  routing_key: Secret.optional().meta({ description: "pagerduty: the integration's routing key.", example: "R0UTINGKEY0000000000000000000000" }),
  url: HookUrl.optional().meta({ description: "webhook: where notifications are POSTed, https and public.", example: "https://hooks.example.com/pharos" }),
  secret: Secret.optional().meta({ description: "webhook: signs each notification when given." }),
};

const NotifyOnIncident = z.boolean().meta({ description: "Incidents are told of here." });
const NotifyOnMaintenance = z.boolean().meta({ description: "Maintenance is told of here." });

export const Channel = z
  .object({
    id: z.uuid(),
    type: Type,
    name: z.string().meta({ example: "On call" }),
    enabled: z.boolean(),
    confirmed: z.boolean().meta({ description: "False for a phone number whose code was not given yet: until then it is sent nothing else. Always true for other types." }),
    config: z.record(z.string(), z.string()).meta({
      description: "Secrets and hook URLs are masked: of a URL the host, and of each the last 4 characters, are shown.",
      example: { webhook_url: "https://hooks.slack.com/…XXXX" },
    }),
    notify_on_incident: NotifyOnIncident,
    notify_on_maintenance: NotifyOnMaintenance,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Channel" });
export type Channel = z.infer<typeof Channel>;

/** Without `limit` all that a plan can have. */
export const ChannelListQuery = z.object({ limit: limit(500, 500), offset: Offset });
export type ChannelListQuery = z.output<typeof ChannelListQuery>;
export const ChannelList = z.object({ channels: z.array(Channel) });

export const CreateChannel = z
  .strictObject({
    type: Type,
    name: Name.meta({ example: "On call" }),
    config: z.strictObject(Config).meta({
      description: "By type: slack, discord and teams `webhook_url`; sms `phone_number`; pagerduty `routing_key`; webhook `url` and, if notifications shall be signed, `secret`. Fields of other types are refused.",
      example: { webhook_url: "https://hooks.slack.com/services/T000/B000/XXXX" },
    }),
    enabled: z.boolean().default(true),
    notify_on_incident: NotifyOnIncident.default(true),
    notify_on_maintenance: NotifyOnMaintenance.default(true),
  })
  .meta({ id: "CreateChannel" });
export type CreateChannel = z.infer<typeof CreateChannel>;

export const UpdateChannel = z
  .strictObject({
    name: Name.optional(),
    config: z
      .strictObject({ ...Config, secret: Secret.nullable().optional().meta({ description: "webhook: null removes it." }) })
      .optional()
      .meta({ description: "What is left out stays. A masked value that is sent back as it was shown stays too." }),
    enabled: z.boolean().optional().meta({ description: "False gives up what still waits for the channel." }),
    notify_on_incident: NotifyOnIncident.optional(),
    notify_on_maintenance: NotifyOnMaintenance.optional(),
  })
  .meta({ id: "UpdateChannel" });
export type UpdateChannel = z.infer<typeof UpdateChannel>;

export const ConfirmChannel = z.strictObject({ code: Code });
