import type { ClaimedDelivery } from "../../domain/deliveries/claim.ts";
import type { Attempt } from "../../domain/deliveries/record.ts";
import { maskSecretHeaders } from "../../domain/secret-names.ts";
import { validPreviousSecret } from "../../domain/webhooks/previous-secret.ts";
import { readRetryAfter } from "../../domain/webhooks/retry-after.ts";
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
  const { url, body } = claimed;
  const judgement = outbound.judgeUrl(url, { allowHttp: config.WEBHOOK_ALLOW_HTTP });
  if (!judgement.ok) return { statusCode: null, responseBody: null, durationMs: 0, error: `${judgement.sentence} ${judgement.fix}`, retryAfter: null, url, requestHeaders: null, at: new Date(clock.now()) };
  const headersWith = headersOf(claimed, new Date(clock.now()));
  const result = await outbound.send({ method: "POST", url, headers: headersWith(claimed.headers), body, timeoutMs: config.WEBHOOK_TIMEOUT_MS, signal });
  if (result.kind === "failed" && signal.aborted) return null;
  const at = new Date(clock.now());
  const retryAfter = result.kind === "response" ? readRetryAfter(result.headers["retry-after"], at) : null;
  return { ...describe(result), durationMs: result.durationMs, retryAfter, url, requestHeaders: headersWith(maskSecretHeaders(claimed.headers)), at };
}

/** All headers of an attempt but the custom ones: with those it is sent, with their masked copy it is kept and shown. */
function headersOf(claimed: ClaimedDelivery, at: Date): (custom: Record<string, string>) => Record<string, string> {
  const { signingSecret: secret, eventId: id, body } = claimed;
  const own = { "content-type": "application/json; charset=utf-8", ...signatureHeaders({ secret, previousSecret: validPreviousSecret(claimed, at), id, at, body }) };
  return (custom) => ({ "user-agent": "Pharos-Webhooks/1.0", accept: "*/*", ...lowerCased(custom), ...own });
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
