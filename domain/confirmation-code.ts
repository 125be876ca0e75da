import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { Failure } from "../platform/failures.ts";

/** How long a code holds, and how often a wrong one may be given. */
const CODE_MS = 15 * 60_000;
const MOST_TRIES = 5;

/** What is kept of a code that was sent; nulls when none was. */
export interface SentCode {
  codeHash: Buffer | null;
  codeSentAt: Date | null;
  /** Wrong codes that were given since. */
  codeTries: number;
}

/** Six digits that prove that somebody reads what is sent to an address or a number. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, "0");
}

/** What is stored of a code, for one `subject` (an id). Six digits can be found by trying them all: what keeps a code is that it holds for minutes, not this. */
export function hashCode(subject: string, code: string): Buffer {
  return createHash("sha256").update(`${subject} ${code}`).digest();
}

/** Pure: whether this is the code that was sent and still holds. A try too many is as wrong as a wrong code. */
export function isRightCode({ codeHash, codeSentAt, codeTries }: SentCode, { subject, code, at }: { subject: string; code: string; at: Date }): boolean {
  if (codeHash === null || codeSentAt === null || codeTries >= MOST_TRIES || at.getTime() - codeSentAt.getTime() > CODE_MS) return false;
  return timingSafeEqual(codeHash, hashCode(subject, code));
}

/** The refusal of a code that is not right; `another` is the request that sends a new one. */
export function wrongCode(another: string): Failure {
  return new Failure("INVALID_REQUEST", "The code is wrong, or does not hold any more.", { path: "/code", fix: `A code holds for ${CODE_MS / 60_000} minutes and ${MOST_TRIES} tries. ${another} sends another one.` });
}
