import { hash, verify } from "@node-rs/argon2";

/** OWASP's least for argon2id, the library's default kind: 19 MiB, two passes, one lane. A hash names its own figures, so changing these breaks none. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The text to keep of a password: argon2id with a random salt (RFC 9106), made off the main loop. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** Whether a password is the one that a kept text was made of. */
export function verifyPassword(kept: string, password: string): Promise<boolean> {
  return verify(kept, password);
}
