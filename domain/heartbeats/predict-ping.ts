import type { Ping } from "../../schemas/messages/ping.ts";
import { EMPTY_MEMORY } from "../../schemas/tables/heartbeats.ts";
import type { HeartbeatStatus } from "../../schemas/vocabulary.ts";
import { decidePing } from "./decide-ping.ts";
import type { Schedule } from "./schedule.ts";

/**
 * What a ping will do to a monitor, from the little that an edge knows of it: the answer's `status` and
 * `next_expected_at` (ms since the epoch; null while down or paused, and for a start or log, which move nothing).
 */
export function predictPing(monitor: Schedule & { status: HeartbeatStatus }, ping: Ping, receivedAt: number): { status: HeartbeatStatus; nextExpectedAt: number | null } {
  const known = { status: monitor.status, lastPingAt: null, lastStartAt: null, nextExpectedAt: null, lastDurationMs: null, memory: EMPTY_MEMORY, warning: null };
  const { status, nextExpectedAt } = decidePing(monitor, known, ping, { receivedAt, edgeId: null, now: receivedAt }).state;
  return { status, nextExpectedAt };
}
