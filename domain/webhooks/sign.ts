import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes secrets. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

interface Signed {
  secret: string;
  /** The event's id, the same in all attempts. */
  id: string;
  /** When this attempt is made: Standard Webhooks lets receivers refuse old ones. */
  at: Date;
  body: string;
}

/**
 * Both signatures of a delivery. `X-Service-Signature` (specification §6): hex HMAC-SHA256 of the body, keyed with the
 * secret's text as it is. `webhook-signature` (Standard Webhooks): over `id.timestamp.body`, keyed with the decoded secret.
 */
export function signatureHeaders({ secret, id, at, body }: Signed): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return {
    "x-service-signature": createHmac("sha256", secret).update(body).digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  };
}
