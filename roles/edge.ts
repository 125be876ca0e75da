import { sql } from "drizzle-orm";
import { noteKeyUses } from "../domain/api-keys/note-used.ts";
import { makeBatcher, BATCHER_LIMITS } from "../ingest/batcher.ts";
import { startEdge, type Edge } from "../ingest/edge.ts";
import { makeKnown } from "../ingest/known.ts";
import { startReplies } from "../ingest/replies.ts";
import { makeFailureOf } from "../ingest/settle.ts";
import { makeClientAddress } from "../platform/client-address.ts";
import type { Config } from "../platform/config.ts";
import { newId } from "../platform/ids.ts";
import { listenTo } from "../platform/postgres/listen.ts";
import { makeRateLimit } from "../platform/rate-limit.ts";
import { edges } from "../schemas/tables/all.ts";
import type { House } from "./house.ts";

/** How often an edge re-reads what changed and tells of itself, in ms. */
const REFRESH_MS = 2_000;
const PUBLISH_MS = 1_000;

/** The role that takes in beacons, pings and pushes. */
export async function startEdgeRole(house: House): Promise<Edge> {
  const { config, clock, log, database, clickhouse, eventLog, lifecycle, metrics } = house;
  const edgeId = newId();
  const known = makeKnown({ database, clock, log });
  const batcher = makeBatcher({ eventLog, edgeId, clock, log, limits: BATCHER_LIMITS });
  const replies = await startReplies({ eventLog, edgeId });
  const rateLimit = makeRateLimit({ clock });
  const clientAddress = makeClientAddress(trustedProxies(config));
  const failureOf = makeFailureOf(log);
  const uses = noteKeyUses({ database, clock, log });
  let spread = 0;

  const listening = listenTo({ connectionString: house.databaseUrl, channel: "pharos_changes", onNotify: () => void refresh(), log });
  const refreshing = setInterval(() => void refresh(), REFRESH_MS);
  const publishing = setInterval(() => void publish(), PUBLISH_MS);

  async function refresh(): Promise<void> {
    await known.refresh().catch((error: unknown) => log.debug({ err: error }, "could not re-read keys; the known ones go on working"));
  }

  /** Tells the late-finder how old the oldest entry is that the log does not have yet. */
  async function publish(): Promise<void> {
    const oldest = batcher.oldestUnsentAt();
    const row = { oldestUnsentAt: oldest === null ? null : new Date(oldest), seenAt: new Date(clock.now()) };
    await database
      .insert(edges)
      .values({ id: edgeId, ...row })
      .onConflictDoUpdate({ target: edges.id, set: row })
      .catch((error: unknown) => log.debug({ err: error }, "could not publish the oldest unsent entry"));
  }

  await publish();
  const edge = await startEdge(
    {
      config,
      clock,
      log,
      database,
      clickhouse,
      eventLog,
      known,
      batcher,
      replies,
      rateLimit,
      clientAddress,
      authentication: { known, clock, rateLimit, clientAddress, anonymousLimit: config.RATE_LIMIT_ANONYMOUS, noteUse: (id) => uses.note(id), failureOf },
      anyPartition: (topic) => (spread = (spread + 1) % eventLog.partitions(topic)),
      failureOf,
    },
    house.probes,
  );

  metrics.observe("pharos_edge_keys_stale_seconds", "Seconds since this edge last re-read keys and monitors from Postgres.", () => known.staleSeconds());
  metrics.observe("pharos_edge_pending_bytes", "Bytes taken in that the event log does not have yet.", () => batcher.pendingBytes());
  metrics.observe("pharos_edge_requests_open", "Requests taken in and not answered yet.", () => edge.inFlight());

  lifecycle.add({
    name: "edge",
    unready: () => batcher.unready(),
    async stop() {
      await edge.stop();
      await batcher.drain();
      clearInterval(refreshing);
      clearInterval(publishing);
      await listening.stop();
      await replies.stop();
      await uses.close();
      await database.delete(edges).where(sql`${edges.id} = ${edgeId}`);
    },
  });
  return edge;
}

/** The control plane of this process forwards over loopback or HOST and says whose request it is. */
function trustedProxies({ TRUSTED_PROXIES, PHAROS_ROLES, HOST }: Config): string[] {
  if (!PHAROS_ROLES.includes("control-plane")) return TRUSTED_PROXIES;
  return [...TRUSTED_PROXIES, "127.0.0.0/8", "::1", ...(HOST === "0.0.0.0" || HOST === "::" ? [] : [HOST])];
}
