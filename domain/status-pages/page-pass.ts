import type { StatusPageRow } from "./columns.ts";
import { isSignedUntil, signUntil } from "./sign-until.ts";

/** How long whoever gave a page's password sees the page without giving it again, in seconds. */
export const PASS_SECONDS = 12 * 3_600;

type PassedPage = Pick<StatusPageRow, "id" | "passwordHash" | "accessLinkSecret">;

/** What a visitor keeps after the right password; `now` in milliseconds since the epoch. */
export function signPass(page: PassedPage, now: number): string {
  return signUntil(Math.floor(now / 1_000) + PASS_SECONDS, aboutOf(page), page.accessLinkSecret);
}

/** Pure: whether this was given for this page and the password that it has now. A page without a password has no passes. */
export function isPass(token: string, page: PassedPage, now: number): boolean {
  return page.passwordHash !== null && isSignedUntil(token, aboutOf(page), page.accessLinkSecret, now);
}

/** With the password's hash, so that another password ends all passes; also the same one set anew, which has another salt. */
function aboutOf({ id, passwordHash }: PassedPage): string {
  return `pass\n${id}\n${passwordHash}`;
}
