/** Largest bodies in bytes, before and after unpacking (conventions §1). */
export const BODY_LIMITS = { beacon: 256 * 1024, heartbeat: 10 * 1024, metrics: 64 * 1024 } as const;
