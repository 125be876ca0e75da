import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { judgeUrl } from "../../platform/outbound/judge-url.ts";
import { outboundRules, type OutboundConfig } from "../../platform/outbound/rules.ts";
import type { UpdateChannel } from "../../schemas/api/channels.ts";
import type { ChannelType } from "../../schemas/vocabulary.ts";
import { maskConfig, type ChannelConfig } from "./mask-config.ts";

export type UrlRules = OutboundConfig & Pick<Config, "WEBHOOK_ALLOW_HTTP">;

interface Fields {
  required: string;
  optional?: string;
}

/** What a channel of each type has in its config (specification §2.9). */
const FIELDS: Record<ChannelType, Fields> = {
  slack: { required: "webhook_url" },
  discord: { required: "webhook_url" },
  teams: { required: "webhook_url" },
  sms: { required: "phone_number" },
  pagerduty: { required: "routing_key" },
  webhook: { required: "url", optional: "secret" },
};

/** E.164: a country code, which never begins with 0, and at most 15 digits in all. */
const PHONE_NUMBER = /^\+[1-9]\d{6,14}$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The config that was asked for, if a channel of this type can work with it. INVALID_REQUEST with the place and what to do about it. */
export function checkConfig(type: ChannelType, config: Readonly<Record<string, string | null | undefined>>, rules: UrlRules): ChannelConfig {
  const given = Object.fromEntries(Object.entries(config).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  const { required, optional } = FIELDS[type];
  const surplus = Object.keys(given).find((field) => field !== required && field !== optional);
  const expected = `Its fields are ${required}${optional ? ` and, if wanted, ${optional}` : ""}.`;
  if (surplus !== undefined) throw refusal(surplus, `A channel of type ${type} has no config.${surplus}.`, expected);
  if (given[required] === undefined) throw refusal(required, `A channel of type ${type} needs config.${required}.`, expected);
  for (const [field, value] of Object.entries(given)) checkField(field, value, rules);
  return given;
}

/**
 * A changed config: what is left out, or sent back as it was shown, stays; null removes. INVALID_REQUEST as
 * `checkConfig`, and for a stored secret that would go with another origin.
 */
export function mergeConfig(type: ChannelType, stored: ChannelConfig, patch: NonNullable<UpdateChannel["config"]>, rules: UrlRules): ChannelConfig {
  const shown = maskConfig(stored);
  const changes = Object.entries(patch).filter(([field, value]) => value !== undefined && !(field in shown && value === shown[field]));
  // What was set to null is no text, and so no part of the config.
  const merged = checkConfig(type, Object.fromEntries([...Object.entries(stored), ...changes]), rules);
  const keepsSecret = merged.secret !== undefined && !changes.some(([field]) => field === "secret");
  if (keepsSecret && originOf(merged.url) !== originOf(stored.url)) {
    throw refusal("secret", "The secret is for another receiver.", "Give the new url's own secret, or null for none: what is signed with this one would be believed by the receiver before.");
  }
  return merged;
}

function originOf(url: string | undefined): string | null {
  return url === undefined ? null : new URL(url).origin;
}

function checkField(field: string, value: string, rules: UrlRules): void {
  if (field === "phone_number" && !PHONE_NUMBER.test(value)) {
    throw refusal(field, "config.phone_number must be in international format.", "Use + and country code, then digits only, such as +4915112345678.");
  }
  if (field === "routing_key" && !PRINTABLE.test(value)) {
    throw refusal(field, "config.routing_key must be printable ASCII without spaces.", "Copy it from the service's integration in PagerDuty; a masked value cannot be used.");
  }
  if (field === "url" || field === "webhook_url") {
    const judgement = judgeUrl(value, { allowHttp: rules.WEBHOOK_ALLOW_HTTP, ...outboundRules(rules) });
    if (!judgement.ok) throw refusal(field, judgement.sentence, judgement.fix);
  }
}

function refusal(field: string, sentence: string, fix: string): Failure {
  return new Failure("INVALID_REQUEST", sentence, { path: `/config/${field}`, fix });
}
