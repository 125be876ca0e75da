import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { murmur2Partition } from "../platform/event-log/partition.ts";
import { Failure } from "../platform/failures.ts";
import { readMetricsPush, type MetricsPush } from "../schemas/messages/metrics-push.ts";
import { authenticate, lookUpFailure, type Entrance } from "./authenticate.ts";
import { parseJson, receiveBody, type Exchange } from "./exchange.ts";
import { BODY_LIMITS } from "./limits.ts";
import { settle, type EdgeNeeds } from "./settle.ts";

const MAY_PUSH: Entrance = { scopes: ["metrics:write"], kind: "metrics/", limitOf: ({ RATE_LIMIT_METRICS }, { plan }) => RATE_LIMIT_METRICS[plan] };

/** POST /api/metrics/ingest: key → read → service → into the log → wait for the evaluation → 200, or 202 when it takes too long. */
export function acceptMetrics(needs: EdgeNeeds, response: HttpResponse, request: HttpRequest, exchange: Exchange): void {
  const prefer = request.getHeader("prefer");
  let body: Buffer | null = null;
  let key: FoundApiKey | null = null;
  receiveBody(response, exchange, BODY_LIMITS.metrics, (bytes) => {
    body = Buffer.from(bytes);
    if (key) accept(key, body);
  });
  authenticate(needs.authentication, exchange, request, MAY_PUSH, (found) => {
    key = found;
    if (body) accept(found, body);
  });

  function accept(key: FoundApiKey, bytes: Buffer): void {
    try {
      const reading = readMetricsPush(parseJson(bytes));
      if (reading.kind === "invalid") throw new Failure(reading.code, reading.error, { path: reading.path, ...(reading.fix !== undefined && { fix: reading.fix }) });
      const { push } = reading;
      const judge = (service: { id: string } | null) => (service === null ? exchange.fail(noSuchService()) : append(needs, exchange, { organizationId: key.organizationId, serviceId: service.id, push, body: bytes, prefer }));
      const known = needs.credentials.service(key.organizationId, push.serviceId);
      if (known !== undefined) judge(known);
      else needs.credentials.loadService(key.organizationId, push.serviceId).then(judge, (error: unknown) => exchange.fail(lookUpFailure(needs, error, exchange)));
    } catch (error) {
      exchange.fail(needs.failureOf(error, exchange));
    }
  }
}

/** `serviceId` is the stored spelling: by it the partition is chosen, and a service must have one. */
function append(needs: EdgeNeeds, exchange: Exchange, { organizationId, serviceId, push, body, prefer }: { organizationId: string; serviceId: string; push: MetricsPush; body: Buffer; prefer: string }): void {
  const detached = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(prefer);
  const requestNumber = detached ? 0 : needs.replies.expect((result) => exchange.reply(200, result));
  const entry = { requestNumber, receivedAt: needs.clock.now(), detached, organizationId, subjectId: serviceId, body };
  const partition = murmur2Partition(serviceId, needs.eventLog.partitions("metrics"));
  const pending = () => exchange.reply(202, JSON.stringify({ success: true, metrics_received: push.metrics, incident_created: null, evaluation: "pending" }));
  settle(
    needs,
    exchange,
    "metrics",
    partition,
    entry,
    // What is spooled will be evaluated some time: nobody is kept waiting for it.
    (fate) => (detached ? pending() : needs.replies.giveUpAfter(requestNumber, fate === "spooled" ? 0 : needs.config.METRICS_WAIT_MS, pending)),
    () => needs.replies.forget(requestNumber),
  );
}

function noSuchService(): Failure {
  return new Failure("NOT_FOUND", "No such service.", { path: "/service_id", fix: "GET /api/v1/services lists the ids." });
}
