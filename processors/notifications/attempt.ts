import { chooseNext, type Sending } from "../../domain/notifications/choose-next.ts";
import type { ClaimedChannel } from "../../domain/notifications/claim.ts";
import { payloadOf } from "../../domain/notifications/payloads/payload-of.ts";
import type { Payload, PayloadSettings } from "../../domain/notifications/payloads/payload.ts";
import { PACES } from "../../domain/notifications/payloads/vendor-limits.ts";
import { readAnswer } from "../../domain/notifications/read-answer.ts";
import type { Attempt } from "../../domain/notifications/record.ts";
import { redact } from "../../domain/notifications/redact.ts";
import { sumUp } from "../../domain/notifications/sum-up.ts";
import type { WaitingNotification } from "../../domain/notifications/waiting.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";

interface AttemptNeeds {
  outbound: Outbound;
  clock: Clock;
  config: PayloadSettings & Pick<Config, "WEBHOOK_TIMEOUT_MS">;
  /** Gives the attempt up. */
  signal: AbortSignal;
}

interface Attempted {
  told: readonly WaitingNotification[];
  attempt: Attempt;
}

/** What a claimed channel is told next; tests alone when it is disabled. */
export function nextFor({ type, enabled, waiting }: ClaimedChannel): Sending<WaitingNotification> | null {
  return chooseNext(type, enabled ? waiting : waiting.filter(({ trigger }) => trigger === "test"));
}

/** Tells a claimed channel something, once. Null when it was given up before there was an answer. Never rejects. */
export async function attemptSending(claimed: ClaimedChannel, sending: Sending<WaitingNotification>, { outbound, clock, config, signal }: AttemptNeeds): Promise<Attempted | null> {
  const { type } = claimed;
  const startedAt = clock.now();
  const payload = payloadFor(claimed, sending, config, new Date(startedAt));
  const refusal = refusalOf(payload, outbound);
  if (payload.kind === "unsendable" || refusal !== null) {
    const at = new Date(startedAt);
    const error = refusal ?? (payload.kind === "unsendable" ? payload.error : "");
    return { told: sending.all, attempt: { outcome: { kind: "refused", error }, statusCode: null, responseBody: null, durationMs: 0, at, nextAt: at } };
  }
  const headers = { "user-agent": "Pharos-Notifications/1.0", accept: "*/*", ...payload.headers };
  const result = await outbound.send({ method: "POST", url: payload.url, headers, body: payload.body, timeoutMs: config.WEBHOOK_TIMEOUT_MS, signal });
  if (result.kind === "failed" && signal.aborted) return null;
  const at = new Date(clock.now());
  const outcome = readAnswer(type, result, at);
  const answered = result.kind === "response";
  return {
    told: sending.all,
    attempt: {
      outcome: outcome.kind === "delivered" ? outcome : { ...outcome, error: redact(outcome.error, claimed.config, config) },
      statusCode: answered ? result.status : null,
      responseBody: answered ? redact(result.body, claimed.config, config) : null,
      durationMs: result.durationMs,
      at,
      nextAt: new Date(Math.max(startedAt + PACES[type].everyMs, at.getTime() + (outcome.kind === "retry" ? (outcome.afterMs ?? 0) : 0))),
    },
  };
}

function payloadFor({ type, config, settings }: ClaimedChannel, { all: [first], told }: Sending<WaitingNotification>, payloadSettings: PayloadSettings, at: Date): Payload {
  const [only] = told;
  const notice = only && told.length === 1 ? only.notice : sumUp(told.map((each) => each.notice), at, settings.timezone);
  return payloadOf(type, { config, notice, origin: first.origin, settings: payloadSettings, at });
}

/** Why a request may not be made at all, by its address. */
function refusalOf(payload: Payload, outbound: Outbound): string | null {
  if (payload.kind === "unsendable") return null;
  const judgement = outbound.judgeUrl(payload.url, { allowHttp: payload.allowHttp });
  return judgement.ok ? null : `${judgement.sentence} ${judgement.fix}`;
}
