import type { ChannelConfig } from "../channels/mask-config.ts";
import { decodePercent } from "./decode-percent.ts";
import type { PayloadSettings } from "./payloads/payload.ts";

/** Shorter ones would black out half of any text. */
const SHORTEST = 6;
const HIDDEN = "…";

/** A text without what a vendor may have repeated of the channel's secrets or of the operator's: anybody who may read the history reads it. */
export function redact(text: string, config: ChannelConfig, { SMS_GATEWAY_URL, SMS_FROM }: Pick<PayloadSettings, "SMS_GATEWAY_URL" | "SMS_FROM">): string {
  const secrets = [...Object.values(config), ...(config.phone_number === undefined ? [] : [SMS_GATEWAY_URL, SMS_FROM])].flatMap((value) => (value === null ? [] : partsOf(value)));
  // The longest first: one may hold another.
  return [...new Set(secrets)].sort((one, other) => other.length - one.length).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

function partsOf(value: string): string[] {
  const url = URL.parse(value);
  const parts = url === null ? [value, value.replace(/^\+/, "")] : [value, url.username, url.password, ...url.pathname.split("/"), ...url.searchParams.values()].flatMap((part) => [part, decodePercent(part)]);
  return parts.filter((part) => part.length >= SHORTEST);
}
