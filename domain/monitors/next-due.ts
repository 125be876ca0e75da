import { hash } from "node:crypto";

/**
 * When a monitor is due after `now` (both in milliseconds since the epoch): every monitor has a phase of its own within its interval, so a minute's
 * monitors do not all come at once, and whenever one is asked about, the answer lies on the same grid, so it does not drift.
 */
export function nextDueAt(monitorId: string, intervalMs: number, now: number): number {
  const phase = Number.parseInt(hash("sha256", monitorId, "hex").slice(0, 12), 16) % intervalMs;
  return Math.floor((now - phase) / intervalMs) * intervalMs + phase + intervalMs;
}
