import { join } from "node:path";
import { noteKeyUses } from "../domain/api-keys/note-used.ts";
import { makeBatcher, BATCHER_LIMITS } from "../ingest/batcher.ts";
import { startEdge, type Edge } from "../ingest/edge.ts";
import { makeFloods } from "../ingest/floods.ts";
import { makeCredentialCache } from "../ingest/credential-cache.ts";
import { startReplies } from "../ingest/replies.ts";
import { makeFailureOf } from "../ingest/settle.ts";
import { atMostEvery } from "../platform/at-most-every.ts";
import { makeClientAddress } from "../platform/client-address.ts";
import type { Config } from "../platform/config.ts";
import { appendDirectly, openSpool, SPOOL_LIMITS, type Spool } from "../platform/event-log/spooled.ts";
import type { WritableLog } from "../platform/event-log/port.ts";
import { newId } from "../platform/ids.ts";
import type { Metrics } from "../platform/metrics.ts";
import { listenTo } from "../platform/postgres/listen.ts";
import { makeRateLimit } from "../platform/rate-limit.ts";
import type { House } from "./house.ts";
import { tellOfEdge } from "./tell-of-edge.ts";

/** How often an edge re-reads what changed, in ms. */
const REFRESH_MS = 2_000;
/** And how often at the most, however many changes are announced. */
const ANNOUNCED_MS = 100;
/** And whose beacons go to beacons-overflow. */
const FLOODS_MS = 1_000;

/** What the edge needs of the house, so that a thread of its own can have it. */
export type EdgeHouse = Pick<House, "config" | "clock" | "log" | "lifecycle" | "probes" | "database" | "databaseUrl" | "clickhouse"> & {
  eventLog: WritableLog;
  metrics: Pick<Metrics, "observe">;
};

/** The role that takes in beacons, pings and pushes. */
export async function startEdgeRole(house: EdgeHouse): Promise<Edge> {
  const { config, clock, log, database, clickhouse, eventLog, lifecycle, metrics } = house;
  const edgeId = newId();
  const credentials = makeCredentialCache({ database, clock, log });
  const floods = makeFloods({ database, clock, log, share: config.OVERFLOW_SHARE_PERCENT / 100, fromBytes: config.OVERFLOW_FROM_BYTES });
  const spool = await openSpoolBesideKafka(house);
  const batcher = makeBatcher({ appender: spool ?? appendDirectly(eventLog), edgeId, clock, log, limits: { ...BATCHER_LIMITS, pendingBytes: config.EDGE_PENDING_BYTES } });
  const telling = tellOfEdge({ database, eventLog, clock, log, edgeId, oldestUnsentAt: () => oldest(batcher.oldestUnsentAt("heartbeats"), spool?.oldestUnsentAt("heartbeats")), formerEdges: () => spool?.formerEdges() ?? [] });
  const replies = await startReplies({ eventLog, edgeId });
  const rateLimit = makeRateLimit({ clock });
  const clientAddress = makeClientAddress(trustedProxies(config));
  const failureOf = makeFailureOf(log);
  const uses = noteKeyUses({ database, clock, log });
  let spread = 0;

  const announced = atMostEvery(ANNOUNCED_MS, () => void refresh());
  const listening = listenTo({ connectionString: house.databaseUrl, channel: "pharos_changes", onNotify: () => announced.call(), log });
  const refreshing = setInterval(() => void refresh(), REFRESH_MS);
  const refreshingFloods = setInterval(() => void refreshFloods(), FLOODS_MS);

  async function refresh(): Promise<void> {
    await credentials.refresh().catch((error: unknown) => log.debug({ err: error }, "could not re-read keys; the known ones go on working"));
  }

  async function refreshFloods(): Promise<void> {
    await floods.refreshForUse().catch((error: unknown) => log.debug({ err: error }, "could not re-read who sends more than its share"));
  }

  await telling.start();
  await refreshFloods();
  const edge = await startEdge(
    {
      config,
      clock,
      log,
      database,
      clickhouse,
      eventLog,
      credentials,
      batcher,
      replies,
      floods,
      rateLimit,
      clientAddress,
      authentication: { credentials, clock, rateLimit, clientAddress, config, noteUse: (id) => uses.note(id), failureOf },
      anyPartition: (topic) => (spread = (spread + 1) % eventLog.partitions(topic)),
      failureOf,
    },
    house.probes,
  );

  metrics.observe("pharos_edge_keys_stale_seconds", "Seconds since this edge last re-read keys and monitors from Postgres.", () => credentials.staleSeconds());
  metrics.observe("pharos_edge_pending_bytes", "Bytes taken in that the event log does not have yet.", () => batcher.pendingBytes());
  metrics.observe("pharos_edge_floods", "Organizations whose beacons go to beacons-overflow, because they sent more than their share.", () => floods.size());
  metrics.observe("pharos_edge_requests_open", "Requests taken in and not answered yet.", () => edge.inFlight());

  if (spool) observeSpool(house, spool);

  lifecycle.add({
    name: "edge",
    unready: () => batcher.unready(),
    async stop() {
      await edge.stop();
      await batcher.drain();
      await spool?.stop();
      clearInterval(refreshing);
      clearInterval(refreshingFloods);
      await telling.stop();
      await listening.stop();
      announced.stop();
      await replies.stop();
      await uses.close();
    },
  });
  return edge;
}

/** The control plane of this process forwards over loopback or HOST and says whose request it is. */
function trustedProxies({ TRUSTED_PROXIES, PHAROS_ROLES, HOST }: Config): string[] {
  if (!PHAROS_ROLES.includes("control-plane")) return TRUSTED_PROXIES;
  return [...TRUSTED_PROXIES, "127.0.0.0/8", "::1", ...(HOST === "0.0.0.0" || HOST === "::" ? [] : [HOST])];
}

/** With the embedded log there is none: it would be on the same disk. */
async function openSpoolBesideKafka({ config, clock, log, eventLog }: EdgeHouse): Promise<Spool | null> {
  if (config.KAFKA_BROKERS.length === 0) return null;
  const limits = { ...SPOOL_LIMITS, bytes: config.SPOOL_BYTES, appendMs: config.SPOOL_AFTER_MS };
  return openSpool({ eventLog, folder: join(config.PHAROS_DATA_DIR, "spool"), limits, clock, log });
}

function observeSpool({ metrics, clock }: EdgeHouse, spool: Spool): void {
  metrics.observe("pharos_spool_bytes", "Bytes on this edge's disk that Kafka does not have yet, those of adopted slots too.", () => spool.bytes());
  metrics.observe("pharos_spool_frames", "Frames on this edge's disk that Kafka does not have yet.", () => spool.frames());
  metrics.observe("pharos_spool_oldest_seconds", "Seconds since the oldest event was received that waits in the spool; 0 when none does.", () => {
    const since = spool.oldestUnsentAt();
    return since === null ? 0 : Math.max(0, (clock.now() - since) / 1_000);
  });
}

function oldest(a: number | null, b: number | null | undefined): number | null {
  return a === null || b === null || b === undefined ? (a ?? b ?? null) : Math.min(a, b);
}
