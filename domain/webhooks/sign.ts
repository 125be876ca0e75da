import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks writes secrets. */
export function newSigningSecret(): string {
  return signingSecretOf(randomBytes(32));
}

/** The same form of a key that is made elsewhere. */
export function signingSecretOf(key: Buffer): string {
  return PREFIX + key.toString("base64");
}

interface Signed {
  secret: string;
  /** The secret before, while it is still valid. */
  previousSecret?: string | null;
  /** The event's id, the same in all attempts. */
  id: string;
  /** When this attempt is made: Standard Webhooks lets receivers refuse old ones. */
  at: Date;
  body: string;
}

/**
 * Both signatures of a delivery. `X-Service-Signature` (specification §6): hex HMAC-SHA256 of the body, keyed with the
 * secret's text as it is. `webhook-signature` (Standard Webhooks): over `id.timestamp.body`, keyed with the decoded secret.
 * While two secrets are valid the first stands alone beside `X-Service-Signature-Previous`, because its receivers compare
 * it whole; the second holds both, as its standard provides.
 */
export function signatureHeaders({ secret, previousSecret = null, id, at, body }: Signed): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000).toString();
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    "x-service-signature": hexDigest(secret, body),
    ...(previousSecret !== null && { "x-service-signature-previous": hexDigest(previousSecret, body) }),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((each) => `v1,${standardDigest(each, `${id}.${timestamp}.${body}`)}`).join(" "),
  };
}

function hexDigest(secret: string, body: string): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

function standardDigest(secret: string, signed: string): string {
  return createHmac("sha256", Buffer.from(secret.slice(PREFIX.length), "base64")).update(signed).digest("base64");
}
