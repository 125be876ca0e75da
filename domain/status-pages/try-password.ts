import { randomBytes } from "node:crypto";
import { Failure } from "../../platform/failures.ts";
import { hashPassword, verifyPassword } from "../../platform/password.ts";
import type { StatusPageRow } from "./columns.ts";
import { takeTurns, type Turns } from "./take-turns.ts";

/** Characters of a page's password at most, as the API takes them. */
const MAX_LENGTH = 255;

/** A verification holds one of libuv's threads and 19 MiB for some 20 ms; files and name look-ups need threads too. */
const AT_ONCE = 2;
const MAX_WAITING = 50;
const RETRY_AFTER_SECONDS = 2;

/** Whether this is the page's password. UNAVAILABLE when too many are being tried in this process. */
export type TryPassword = (page: Pick<StatusPageRow, "visibility" | "passwordHash">, password: string) => Promise<boolean>;

/** A page that needs no password has none that is right, and says so as late as one that does. What no page can have for a password is not hashed. */
export function makeTryPassword(turns: Turns = { atOnce: AT_ONCE, waiting: MAX_WAITING }): TryPassword {
  const inTurn = takeTurns(turns, tooManyTries);
  let nobodys: Promise<string> | null = null;
  return async ({ visibility, passwordHash }, password) => {
    if (password === "" || password.length > MAX_LENGTH) return false;
    return inTurn(async () => {
      if (visibility === "password" && passwordHash !== null) return verifyPassword(passwordHash, password);
      await verifyPassword(await (nobodys ??= hashPassword(randomBytes(32).toString("base64url"))), password);
      return false;
    });
  };
}

/** What somebody is told who comes when too many passwords are being tried. */
export function tooManyTries(): Failure {
  return new Failure("UNAVAILABLE", "Too many passwords are being tried at the moment.", { retryAfter: RETRY_AFTER_SECONDS, fix: "Try again in a few seconds." });
}
