import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { FrameEntry } from "../platform/event-log/frame.ts";
import { murmur2Partition } from "../platform/event-log/partition.ts";
import { Failure } from "../platform/failures.ts";
import { endOfMinute, UNLIMITED, type RateState } from "../platform/rate-limit.ts";
import { readBeacon } from "../schemas/messages/beacon.ts";
import { lookUpFailure } from "./authenticate.ts";
import { parseJson, receiveBody, type Exchange } from "./exchange.ts";
import type { CachedBeaconKey } from "./find-credentials.ts";
import { glanceBeacon } from "./glance-beacon.ts";
import { BODY_LIMITS } from "./limits.ts";
import { partitionKeyOf } from "./partition-key.ts";
import { settle, type EdgeNeeds } from "./settle.ts";

/** The beacon has no rate limit; clients that read the headers get told so. One object serves all requests of a minute. */
let noLimit: RateState = { allowed: true, limit: UNLIMITED, remaining: UNLIMITED, resetAtSeconds: 0, retryAfterSeconds: 0 };

/** The rate that every answer of the beacon tells. */
export function noLimitAt(now: number): RateState {
  const resetAtSeconds = endOfMinute(now);
  if (noLimit.resetAtSeconds !== resetAtSeconds) noLimit = { ...noLimit, resetAtSeconds };
  return noLimit;
}

/** POST /api/beacon: parse → validate → key → into the log → 202. */
export function acceptBeacon(needs: EdgeNeeds, response: HttpResponse, request: HttpRequest, exchange: Exchange): void {
  const origin = request.getHeader("origin");
  exchange.openToOrigins = true;
  exchange.rate = noLimitAt(needs.clock.now());
  receiveBody(response, exchange, BODY_LIMITS.beacon, (body) => {
    try {
      acceptBody(needs, exchange, origin, body);
    } catch (error) {
      exchange.fail(needs.failureOf(error, exchange));
    }
  });
}

function acceptBody(needs: EdgeNeeds, exchange: Exchange, origin: string, body: Uint8Array): void {
  const glance = glanceBeacon(body);
  if (glance !== null) return admit(needs, exchange, { key: glance.key, partitionKey: glance.partitionKey, answer: allAccepted(glance.events), origin, body });
  const value = parseJson(body);
  const key = typeof value === "object" && value !== null && "key" in value ? value.key : undefined;
  // The key is judged before the rest, so that a body is not explained to somebody without one.
  if (typeof key !== "string" || needs.credentials.beaconKey(key) === null) return refuseKey(exchange);

  const reading = readBeacon(value);
  if (reading.kind === "invalid") throw new Failure(reading.code, reading.error, { path: reading.path });
  const { events, rejected } = reading;
  if (events.length === 0) {
    const [first] = rejected;
    throw new Failure("INVALID_REQUEST", `None of the ${rejected.length} events can be taken in: ${first?.error ?? "there are none"}`, { path: first?.path ?? "/events" });
  }
  const answer = rejected.length === 0 ? allAccepted(events.length) : JSON.stringify({ success: true, accepted: events.length, rejected });
  admit(needs, exchange, { key, partitionKey: partitionKeyOf(reading), answer, origin, body });
}

function allAccepted(events: number): string {
  return `{"success":true,"accepted":${events},"rejected":[]}`;
}

interface ReadBeacon {
  key: string;
  /** A retry of this body must meet the same partition, where its event ids are remembered. Empty: any. */
  partitionKey: string;
  answer: string;
  origin: string;
  /** Only valid during the call. */
  body: Uint8Array;
}

/** Into the log, when the key is good for it. */
function admit(needs: EdgeNeeds, exchange: Exchange, { key: keyText, partitionKey, answer, origin, body }: ReadBeacon): void {
  const known = needs.credentials.beaconKey(keyText);
  if (known === null) return refuseKey(exchange);
  if (known !== undefined) return append(known, body);
  const copy = Buffer.from(body);
  needs.credentials.loadBeaconKey(keyText).then(
    (key) => (key === null ? refuseKey(exchange) : append(key, copy)),
    (error: unknown) => exchange.fail(lookUpFailure(needs, error, exchange)),
  );

  function append(key: CachedBeaconKey, bytes: Uint8Array): void {
    if (key.allowedOrigins !== null && key.allowedOrigins.length > 0 && !key.allowedOrigins.includes(origin)) {
      return exchange.fail(
        new Failure("FORBIDDEN_ORIGIN", origin === "" ? "This beacon key only takes requests that name their Origin." : `The origin ${origin.slice(0, 200)} is not allowed for this beacon key.`, {
          fix: "Add the origin to the key's allowed_origins with PATCH /api/v1/beacon-keys/{id}.",
        }),
      );
    }
    const entry: FrameEntry = {
      requestNumber: 0,
      receivedAt: needs.clock.now(),
      detached: true,
      organizationId: key.organizationId,
      subjectId: key.serviceId,
      body: bytes,
    };
    const topic = needs.floods.topicOf(key.organizationId, bytes.byteLength);
    const partition = partitionKey === "" ? needs.anyPartition(topic) : murmur2Partition(partitionKey, needs.eventLog.partitions(topic));
    settle(needs, exchange, topic, partition, entry, () => exchange.reply(202, answer));
  }
}

/** Never a 429, whoever asks: a page with an old key has to hear of the key. */
function refuseKey(exchange: Exchange): void {
  exchange.fail(new Failure("UNAUTHENTICATED", "The beacon key is missing or not known.", { path: "/key", fix: "Put the public key (it begins with bpk_) into the body's key field; GET /api/v1/beacon-keys lists it." }));
}
