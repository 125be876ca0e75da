import type { ClaimedDelivery } from "../../domain/deliveries/claim.ts";
import type { Attempt } from "../../domain/deliveries/record.ts";
import { signatureHeaders } from "../../domain/webhooks/sign.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Outbound, OutboundResult } from "../../platform/outbound/outbound.ts";

interface AttemptNeeds {
  outbound: Outbound;
  clock: Clock;
  config: Pick<Config, "WEBHOOK_TIMEOUT_MS" | "WEBHOOK_ALLOW_HTTP">;
  /** Gives the attempt up. */
  signal: AbortSignal;
}

/** POSTs a claimed delivery once. Null when it was given up before there was an answer. Never rejects. */
export async function attemptDelivery(claimed: ClaimedDelivery, { outbound, clock, config, signal }: AttemptNeeds): Promise<Attempt | null> {
  const { url, eventId, signingSecret, body } = claimed;
  const judgement = outbound.judgeUrl(url, { allowHttp: config.WEBHOOK_ALLOW_HTTP });
  if (!judgement.ok) return { statusCode: null, responseBody: null, durationMs: 0, error: `${judgement.sentence} ${judgement.fix}`, at: new Date(clock.now()) };
  const headers = {
    "user-agent": "Pharos-Webhooks/1.0",
    accept: "*/*",
    ...lowerCased(claimed.headers),
    "content-type": "application/json; charset=utf-8",
    ...signatureHeaders({ secret: signingSecret, id: eventId, at: new Date(clock.now()), body }),
  };
  const result = await outbound.send({ method: "POST", url, headers, body, timeoutMs: config.WEBHOOK_TIMEOUT_MS, signal });
  if (result.kind === "failed" && signal.aborted) return null;
  return { ...describe(result), durationMs: result.durationMs, at: new Date(clock.now()) };
}

function describe(result: OutboundResult): Pick<Attempt, "statusCode" | "responseBody" | "error"> {
  if (result.kind === "failed") return { statusCode: null, responseBody: null, error: result.error };
  const { status: statusCode, body: responseBody } = result;
  if (statusCode >= 200 && statusCode < 300) return { statusCode, responseBody, error: null };
  const redirect = statusCode >= 300 && statusCode < 400 ? " Redirects are not followed: set the webhook's url to the final address." : "";
  return { statusCode, responseBody, error: `The receiver answered ${statusCode}.${redirect}` };
}

/** So that a custom User-Agent replaces ours instead of standing beside it. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
