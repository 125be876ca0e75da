const MINUTE_MS = 60_000;

/** How long after each failed try the next one follows, in ms; as senders of mail have it (RFC 5321, 4.5.4.1, asks for 30 minutes in the long run). */
export const DELAYS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 480 * MINUTE_MS];

export type SendPlan = { kind: "sent" } | { kind: "retry"; at: Date } | { kind: "failed" };

/** Pure: what follows from a try to send, `tries` being how many that makes. */
export function planSend({ tries, result, at }: { tries: number; result: { kind: "sent" } | { kind: "failed"; permanent: boolean }; at: Date }): SendPlan {
  if (result.kind === "sent") return { kind: "sent" };
  const delay = result.permanent ? undefined : DELAYS[tries - 1];
  return delay === undefined ? { kind: "failed" } : { kind: "retry", at: new Date(at.getTime() + delay) };
}
