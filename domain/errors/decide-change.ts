import type { ChangeErrorStatus } from "../../schemas/api/errors.ts";
import type { ErrorStatus } from "../../schemas/vocabulary.ts";

/** What a signature's row knows of its status. */
export interface StatusColumns {
  status: ErrorStatus;
  /** When it was resolved last; outlives a regression. */
  resolvedAt: Date | null;
  resolvedInRelease: string | null;
  ignoreUntil: Date | null;
  /** Its total of occurrences with which it stops being ignored. */
  ignoreUntilOccurrences: number | null;
}

/**
 * The columns after a person set a status. Conditions belong to a status: another one drops them; with the same one,
 * those that are left out stay. Resolving what is resolved does not move the moment of its resolution.
 */
export function decideChange(before: StatusColumns & { occurrences: number }, patch: ChangeErrorStatus, now: Date): StatusColumns {
  const same = before.status === patch.status;
  const kept = <Value>(value: Value): Value | null => (same ? value : null);
  const { status, resolved_in_release: release = kept(before.resolvedInRelease), ignore_until: until, ignore_until_occurrences: more } = patch;
  const none = { resolvedAt: null, resolvedInRelease: null, ignoreUntil: null, ignoreUntilOccurrences: null };
  if (status === "new") return { ...none, status };
  if (status === "resolved") return { ...none, status, resolvedAt: kept(before.resolvedAt) ?? now, resolvedInRelease: release };
  return {
    ...none,
    status,
    ignoreUntil: until === undefined ? kept(before.ignoreUntil) : until === null ? null : new Date(until),
    ignoreUntilOccurrences: more === undefined ? kept(before.ignoreUntilOccurrences) : more === null ? null : before.occurrences + more,
  };
}
