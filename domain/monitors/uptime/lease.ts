/** The longest check, half a minute, and a quarter of one to record it. */
export const UPTIME_LEASE_MS = 45_000;
