import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { predictPing } from "../domain/heartbeats/predict-ping.ts";
import { readHeartbeatStatus } from "../domain/heartbeats/read-status.ts";
import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { murmur2Partition } from "../platform/event-log/partition.ts";
import { Failure } from "../platform/failures.ts";
import { loggedPing, readSentPing } from "../schemas/messages/ping.ts";
import { authenticate, isLet, lookUpFailure, type Entrance } from "./authenticate.ts";
import { hasNoBody, receiveBody, type Exchange } from "./exchange.ts";
import type { CachedMonitor } from "./find-credentials.ts";
import { BODY_LIMITS } from "./limits.ts";
import { settle, type EdgeNeeds } from "./settle.ts";

/** Ids are unique over all tables, so those of keys, organizations and monitors count under their bare names. */
const KIND = "";
const limitOf: Entrance["limitOf"] = ({ RATE_LIMIT_HEARTBEAT_KEY }) => RATE_LIMIT_HEARTBEAT_KEY;
const MAY_PING: Entrance = { scopes: ["heartbeat:write"], kind: KIND, limitOf };
const MAY_SEE: Entrance = { scopes: ["heartbeat:write", "monitors:read"], kind: KIND, limitOf };

/** POST /api/heartbeat/{id or slug}: key → monitor → read → into the log → 200 with the status that follows. */
export function acceptHeartbeat(needs: EdgeNeeds, response: HttpResponse, request: HttpRequest, exchange: Exchange, idOrSlug: string): void {
  if (exchange.contentEncoding === "" && hasNoBody(request)) {
    return withMonitor(needs, exchange, request, idOrSlug, MAY_PING, (key, monitor) => accept(key, monitor, NOTHING));
  }
  // The body must be asked for before the handler returns, whatever the look-ups take.
  let body: Buffer | null = null;
  let found: { key: FoundApiKey; monitor: CachedMonitor } | null = null;
  receiveBody(response, exchange, BODY_LIMITS.heartbeat, (bytes) => {
    if (found) accept(found.key, found.monitor, bytes);
    else body = Buffer.from(bytes);
  });
  withMonitor(needs, exchange, request, idOrSlug, MAY_PING, (key, monitor) => {
    if (body) accept(key, monitor, body);
    else found = { key, monitor };
  });

  function accept(key: FoundApiKey, monitor: CachedMonitor, bytes: Uint8Array): void {
    try {
      const reading = readSentPing(bytes);
      if (reading.kind === "invalid") throw new Failure(reading.code, reading.error, { ...(reading.path !== undefined && { path: reading.path }), ...(reading.fix !== undefined && { fix: reading.fix }) });
      if (!isLet(exchange, needs.rateLimit.take(monitor.id, needs.config.RATE_LIMIT_HEARTBEAT_MONITOR))) return;
      const receivedAt = needs.clock.now();
      const entry = { requestNumber: 0, receivedAt, detached: true, organizationId: key.organizationId, subjectId: monitor.id, body: loggedPing(bytes, reading.ping) };
      const partition = murmur2Partition(monitor.id, needs.eventLog.partitions("heartbeats"));
      settle(needs, exchange, "heartbeats", partition, entry, () => {
        const { status, nextExpectedAt } = predictPing(monitor, reading.ping, receivedAt);
        const next = nextExpectedAt === null ? "null" : `"${isoOf(nextExpectedAt)}"`;
        // Ids, statuses and moments hold nothing that JSON escapes; writing them by hand takes a third of the time.
        exchange.reply(200, `{"success":true,"monitor_id":"${monitor.id}","status":"${status}","received_at":"${isoOf(receivedAt)}","next_expected_at":${next}}`);
      });
    } catch (error) {
      exchange.fail(needs.failureOf(error, exchange));
    }
  }
}

/** The body of most pings. */
const NOTHING = new Uint8Array(0);

/** ISO texts of whole seconds up to the dot: the pings of one second share theirs. */
const isoSeconds = new Map<number, string>();
const ISO_SECONDS_KEPT = 10_000;

/** As toISOString, for whole milliseconds. */
function isoOf(ms: number): string {
  const second = Math.floor(ms / 1_000);
  let text = isoSeconds.get(second);
  if (text === undefined) {
    if (isoSeconds.size >= ISO_SECONDS_KEPT) isoSeconds.clear();
    isoSeconds.set(second, (text = new Date(second * 1_000).toISOString().slice(0, -4)));
  }
  const rest = ms - second * 1_000;
  return `${text}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
}

/** GET /api/heartbeat/{id or slug}: the monitor's state and its last pings, as the stores have them. */
export function answerHeartbeat(needs: EdgeNeeds, request: HttpRequest, exchange: Exchange, idOrSlug: string): void {
  withMonitor(needs, exchange, request, idOrSlug, MAY_SEE, (key, monitor) => {
    readHeartbeatStatus({ database: needs.database, clickhouse: needs.clickhouse }, key.organizationId, monitor.id).then(
      (status) => (status === null ? exchange.fail(noSuchMonitor()) : exchange.reply(200, JSON.stringify(status))),
      (error: unknown) => exchange.fail(needs.failureOf(error, exchange)),
    );
  });
}

function withMonitor(
  needs: EdgeNeeds,
  exchange: Exchange,
  request: HttpRequest,
  idOrSlug: string,
  entrance: Entrance,
  use: (key: FoundApiKey, monitor: CachedMonitor) => void,
): void {
  // The key is counted before the look-up: that a monitor does not exist is never remembered, so each ping of it is a question to Postgres.
  authenticate(needs.authentication, exchange, request, entrance, (key) => {
    const judge = (monitor: CachedMonitor | null) => (monitor === null ? exchange.fail(noSuchMonitor()) : use(key, monitor));
    const known = needs.credentials.monitor(key.organizationId, idOrSlug);
    if (known !== undefined) judge(known);
    else needs.credentials.loadMonitor(key.organizationId, idOrSlug).then(judge, (error: unknown) => exchange.fail(lookUpFailure(needs, error, exchange)));
  });
}

function noSuchMonitor(): Failure {
  return new Failure("NOT_FOUND", "No such heartbeat monitor.", { fix: "GET /api/v1/heartbeat-monitors lists the ids and slugs." });
}
