import { signatureHeaders } from "../../webhooks/sign.ts";
import type { Payload, PayloadInput } from "./payload.ts";

/**
 * The body that webhooks have, `{id, event, timestamp, data}`, as the event was written; signed as theirs when the channel has a secret.
 * The signature of Standard Webhooks is only for secrets in its form.
 */
export function webhookPayload({ config, origin, settings, at }: PayloadInput): Payload {
  const { secret } = config;
  const body = JSON.stringify({ id: origin.id, event: origin.event, timestamp: origin.at.toISOString(), data: origin.data });
  const { "webhook-signature": standard, ...signed } = secret === undefined ? {} : signatureHeaders({ secret, id: origin.id, at, body });
  return {
    kind: "request",
    url: config.url ?? "",
    headers: { "content-type": "application/json; charset=utf-8", ...signed, ...(standard !== undefined && secret?.startsWith("whsec_") && { "webhook-signature": standard }) },
    body,
    allowHttp: settings.WEBHOOK_ALLOW_HTTP,
  };
}
