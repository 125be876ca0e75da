import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { uuidFromBytes, uuidToBytes } from "../../platform/ids.ts";
import { signingSecretOf } from "../webhooks/sign.ts";

/** A token that confirms, once; only its hash is stored. */
export function newConfirmToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: confirmHash(token) };
}

export function confirmHash(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Keys a subscriber's own link. */
export function newSecret(): Buffer {
  return randomBytes(32);
}

/** The token of the link by which a subscriber leaves or changes its services: made anew for each mail, stored nowhere. */
export function ownToken(subscriberId: string, secret: Buffer): string {
  return Buffer.concat([uuidToBytes(subscriberId), hmac(secret, "subscription")]).toString("base64url");
}

/** Whose token it claims to be; null for a text that is none. */
export function subscriberOf(token: string): string | null {
  return /^[\w-]{64}$/.test(token) ? uuidFromBytes(Buffer.from(token, "base64url").subarray(0, 16)) : null;
}

/** Whether it is this subscriber's own; the token must be one of `subscriberOf`. */
export function isOwnToken(token: string, secret: Buffer): boolean {
  return timingSafeEqual(Buffer.from(token, "base64url").subarray(16), hmac(secret, "subscription"));
}

/** What signs the requests to a webhook that subscribed. The webhook is told it with the confirmation; it stays the same for as long as the subscription stands. */
export function subscribersSigningSecret(secret: Buffer): string {
  return signingSecretOf(hmac(secret, "signing"));
}

/** The purposes are apart: who holds what signs requests can neither confirm nor leave. */
function hmac(secret: Buffer, purpose: "subscription" | "signing"): Buffer {
  return createHmac("sha256", secret).update(purpose).digest();
}
