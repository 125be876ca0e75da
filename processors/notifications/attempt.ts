import { chooseNext, type Sending } from "../../domain/notifications/choose-next.ts";
import type { ClaimedChannel } from "../../domain/notifications/claim.ts";
import { payloadOf } from "../../domain/notifications/payloads/payload-of.ts";
import type { Payload, PayloadSettings } from "../../domain/notifications/payloads/payload.ts";
import { PACES } from "../../domain/notifications/payloads/vendor-limits.ts";
import type { Notice } from "../../domain/notifications/notice.ts";
import { prepareText, type PreparedText } from "../../domain/notifications/prepare-text.ts";
import { readAnswer } from "../../domain/notifications/read-answer.ts";
import type { Attempt } from "../../domain/notifications/record.ts";
import { redact } from "../../domain/notifications/redact.ts";
import { sumUp } from "../../domain/notifications/sum-up.ts";
import type { WaitingNotification } from "../../domain/notifications/waiting.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config.ts";
import type { Database } from "../../platform/postgres/database.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";

interface AttemptNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: PayloadSettings & Pick<Config, "WEBHOOK_TIMEOUT_MS" | "SMS_PER_DAY">;
  /** Gives the attempt up. */
  signal: AbortSignal;
}

const NOTHING_PREPARED: PreparedText = { kind: "ready", notice: null };

interface Attempted {
  told: readonly WaitingNotification[];
  attempt: Attempt;
}

/** What a claimed channel is told next; tests alone when it is disabled. */
export function nextFor({ type, enabled, waiting }: ClaimedChannel): Sending<WaitingNotification> | null {
  return chooseNext(type, enabled ? waiting : waiting.filter(({ trigger }) => trigger === "test"));
}

/** Tells a claimed channel something, once. Null when it was given up before there was an answer. Rejects only when Postgres does. */
export async function attemptSending(claimed: ClaimedChannel, sending: Sending<WaitingNotification>, { database, outbound, clock, config, signal }: AttemptNeeds): Promise<Attempted | null> {
  const { type } = claimed;
  const startedAt = clock.now();
  const refused = (error: string): Attempted => {
    const at = new Date(startedAt);
    return { told: sending.all, attempt: { outcome: { kind: "refused", error }, statusCode: null, responseBody: null, durationMs: 0, at, nextAt: at } };
  };
  const isCode = sending.all[0].trigger === "code";
  // Without a gateway nothing is sent, whoever agreed.
  const prepared = type === "sms" && config.SMS_GATEWAY_URL !== null ? await prepareText(claimed, isCode, { database, config, at: new Date(startedAt) }) : NOTHING_PREPARED;
  if (prepared.kind === "refused") return refused(prepared.error);
  const payload = payloadFor(claimed, sending, { notice: prepared.notice, settings: config, at: new Date(startedAt) });
  const refusal = payload.kind === "unsendable" ? payload.error : refusalOf(payload, outbound);
  if (payload.kind === "unsendable" || refusal !== null) return refused(refusal!);
  const headers = { "user-agent": "Pharos-Notifications/1.0", accept: "*/*", ...payload.headers };
  const result = await outbound.send({ method: "POST", url: payload.url, headers, body: payload.body, timeoutMs: config.WEBHOOK_TIMEOUT_MS, signal });
  if (result.kind === "failed" && signal.aborted) return null;
  const at = new Date(clock.now());
  const outcome = readAnswer(type, result, at);
  const answered = result.kind === "response";
  return {
    told: sending.all,
    attempt: {
      // A gateway says back what it was given to send, and whoever may read this would have the code.
      outcome: outcome.kind === "delivered" ? outcome : { ...outcome, error: isCode ? "The gateway did not take the message." : redact(outcome.error, claimed.config, config) },
      statusCode: answered ? result.status : null,
      responseBody: answered && !isCode ? redact(result.body, claimed.config, config) : null,
      durationMs: result.durationMs,
      at,
      nextAt: new Date(Math.max(startedAt + PACES[type].everyMs, at.getTime() + (outcome.kind === "retry" ? (outcome.afterMs ?? 0) : 0))),
    },
  };
}

interface PayloadNeeds {
  /** In place of what the sending says. */
  notice: Notice | null;
  settings: PayloadSettings;
  at: Date;
}

function payloadFor({ type, config, settings: { timezone } }: ClaimedChannel, { all: [first], told }: Sending<WaitingNotification>, { notice, settings, at }: PayloadNeeds): Payload {
  const [only] = told;
  const said = notice ?? (only && told.length === 1 ? only.notice : sumUp(told.map((each) => each.notice), at, timezone));
  return payloadOf(type, { config, notice: said, origin: first.origin, settings, at });
}

/** Why a request may not be made at all, by its address. */
function refusalOf(payload: Extract<Payload, { kind: "request" }>, outbound: Outbound): string | null {
  const judgement = outbound.judgeUrl(payload.url, { allowHttp: payload.allowHttp });
  return judgement.ok ? null : `${judgement.sentence} ${judgement.fix}`;
}
