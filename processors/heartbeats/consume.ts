import { deadlineIsNear, FAR_MS } from "../../domain/heartbeats/deadline-near.ts";
import { recordPings, type ReceivedPing } from "../../domain/heartbeats/record-pings.ts";
import type { Consumer } from "../../platform/event-log/port.ts";
import { readPing } from "../../schemas/messages/ping.ts";
import type { DatabaseConsumerNeeds } from "../consume/needs.ts";
import type { PlacedEntry } from "../consume/fresh-frames.ts";
import { startTransactionalConsumer } from "../consume/transactional.ts";

/** Name of the group whose cursors prove how far pings are processed; the late-finder asks for it. */
export const HEARTBEAT_GROUP = "heartbeats";

/** Pings → the states of their monitors, with opinions and events, in the transaction that moves the cursor. */
export function startHeartbeatConsumer(needs: DatabaseConsumerNeeds): Promise<Consumer> {
  return startTransactionalConsumer(needs, {
    topic: "heartbeats",
    group: HEARTBEAT_GROUP,
    proves: { isNear: deadlineIsNear, farMs: FAR_MS },
    prepare: async (entries) => entries.flatMap(pingOf),
    apply: (transaction, pings) => recordPings(transaction, pings, new Date(needs.clock.now())),
  });
}

/** The edge has read the body before it took it in; one that cannot be read now was written by another version and says nothing. */
function pingOf({ head, entry }: PlacedEntry): ReceivedPing[] {
  const reading = readPing(entry.body);
  return reading.kind === "read" ? [{ monitorId: entry.subjectId, organizationId: entry.organizationId, receivedAt: entry.receivedAt, edgeId: head.edgeId, ping: reading.ping }] : [];
}
