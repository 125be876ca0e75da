import type { Ping } from "../../schemas/messages/ping.ts";
import type { HeartbeatStatus } from "../../schemas/vocabulary.ts";
import { nextExpectedAt, type Schedule } from "./schedule.ts";

/** What the answer to a ping tells. */
export interface PingForecast {
  status: HeartbeatStatus;
  /** Ms since the epoch; null while down or paused, and for a start or log, which move nothing. */
  nextExpectedAt: number | null;
}

/**
 * What a ping will do to a monitor, from the little that an edge knows of it. `receivedAt` in ms
 * since the epoch. It says what `decidePing` decides of a monitor without a past (a test holds
 * that), but makes none of its objects: an edge asks for each ping.
 */
export function predictPing(
  monitor: Schedule & { status: HeartbeatStatus },
  ping: Pick<Ping, "status">,
  receivedAt: number,
): PingForecast {
  const movesNothing = ping.status === "start" || ping.status === "log";
  if (movesNothing || monitor.status === "paused") {
    return { status: monitor.status, nextExpectedAt: null };
  }
  if (ping.status === "fail") return { status: "down", nextExpectedAt: null };
  return { status: "up", nextExpectedAt: nextExpectedAt(monitor, receivedAt) };
}
