import type { BeaconReading } from "../schemas/messages/beacon.ts";

/**
 * What chooses a beacon's partition: its session, else the first id that any of its accepted events
 * has, so that a retry meets the partition where its ids are remembered. Empty when it has neither:
 * then any partition does. `glanceBeacon` says the same.
 */
export function partitionKeyOf({ beacon, events }: Extract<BeaconReading, { kind: "read" }>): string {
  if (beacon.session_id) return beacon.session_id;
  for (const { event } of events) if (event.event_id) return event.event_id;
  return "";
}
