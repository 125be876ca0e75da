import { randomUUID } from "node:crypto";

/** An entry of a frame; its body is text. */
interface OldEntry {
  organizationId: string;
  subjectId: string;
  body: string;
}

/** What the older version is made to have in its log: a frame, or bytes that are none. */
export interface OldFrame {
  topic: string;
  partition: number;
  entries?: OldEntry[];
  bytes?: string;
}

/** Whom the frames are of. */
export interface Tenant {
  organizationId: string;
  serviceId: string;
  beaconKey: string;
  monitorId: string;
}

/** Events of the requests of one frame; a request of none stands for a body that gives no rows. */
const SHAPES = [[0, 3, 2, 4], [1], [2, 0, 1], [3]] as const;
/** What `beaconFrames` makes for a partition. */
export const EVENTS_OF_FRAMES = SHAPES.flat().reduce<number>((sum, events) => sum + events, 0);
/** What `pushFrames` and `pingFrames` make for a partition: rows in ClickHouse. */
export const ROWS_OF_PUSHES = 9;
export const ROWS_OF_PINGS = 3;

/** Frames of several requests of several named events, all with this message. */
export function beaconFrames(tenant: Tenant, partition: number, message: string): OldFrame[] {
  return SHAPES.map((requests) => ({
    topic: "beacons",
    partition,
    entries: requests.map((events) => ({
      organizationId: tenant.organizationId,
      subjectId: tenant.serviceId,
      body: beaconBody(tenant.beaconKey, message, events),
    })),
  }));
}

/** A request as the browser SDK sends it; without events, one that no version of Pharos can read. */
export function beaconBody(beaconKey: string, message: string, events: number): string {
  if (events === 0) return "this is no beacon";
  const named = () => ({ type: "error", error_type: "Error", message, event_id: randomUUID() });
  return JSON.stringify({ key: beaconKey, session_id: "one", events: Array.from({ length: events }, named) });
}

/** Pushes of two figures and of one, behind one that gives no rows. */
export function pushFrames(tenant: Tenant, partition: number, name: string): OldFrame[] {
  const bodies = [
    "this is no push",
    JSON.stringify({ service_id: tenant.serviceId, metrics: { [name]: 1, [`${name}_more`]: 1 } }),
    JSON.stringify({ service_id: tenant.serviceId, metrics: { [name]: 1 } }),
  ];
  const entries = bodies.map((body) => ({ organizationId: tenant.organizationId, subjectId: tenant.serviceId, body }));
  return [1, 2, 3].map(() => ({ topic: "metrics", partition, entries }));
}

/** Pings in one frame, the second of which gives no row. */
export function pingFrames(tenant: Tenant, partition: number, message: string): OldFrame[] {
  const body = JSON.stringify({ status: "log", message });
  const bodies = [body, "this is no ping", body, body];
  return [
    {
      topic: "heartbeats",
      partition,
      entries: bodies.map((each) => ({ organizationId: tenant.organizationId, subjectId: tenant.monitorId, body: each })),
    },
  ];
}
