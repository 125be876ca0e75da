import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * `<end>.<HMAC-SHA256 as base64url>` over what it is about and its end, in seconds since the epoch. What is signed is
 * `${about}\n${end}`: an end holds only digits, so two texts that are about different things are never the same.
 */
export function signUntil(end: number, about: string, secret: Buffer): string {
  return `${end}.${signatureOf(about, String(end), secret).toString("base64url")}`;
}

/** Pure: whether a token was signed about this with this secret, and has not ended at `now` (milliseconds since the epoch). */
export function isSignedUntil(token: string, about: string, secret: Buffer, now: number): boolean {
  const [, end, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(token) ?? [];
  if (end === undefined || signature === undefined || Number(end) * 1000 <= now) return false;
  return timingSafeEqual(Buffer.from(signature, "base64url"), signatureOf(about, end, secret));
}

function signatureOf(about: string, end: string, secret: Buffer): Buffer {
  return createHmac("sha256", secret).update(`${about}\n${end}`).digest();
}
