import type { OutboundResult } from "../../platform/outbound/outbound.ts";
import type { ChannelType } from "../../schemas/vocabulary.ts";

export type AnswerOutcome =
  | { kind: "delivered" }
  /** It may go well later; in `afterMs` at the earliest, when the vendor says so. */
  | { kind: "retry"; error: string; afterMs: number | null }
  /** It will not go well however often it is tried. */
  | { kind: "refused"; error: string };

/** What vendors' refusals mean to the person who set the channel up: a part of the body, lower case, and a sentence. */
const MEANINGS: Partial<Record<ChannelType, readonly (readonly [part: string, sentence: string])[]>> = {
  slack: [
    ["no_service", "This Slack hook was removed or is disabled: add a new one in Slack and set it as webhook_url."],
    ["no_team", "The Slack workspace of this hook does not exist any more."],
    ["invalid_token", "Slack does not know this hook: copy its address again."],
    ["channel_not_found", "The Slack channel of this hook does not exist any more."],
    ["channel_is_archived", "The Slack channel of this hook is archived."],
    ["action_prohibited", "An administrator of the Slack workspace does not let this hook post here."],
    ["posting_to_general_channel_denied", "An administrator of the Slack workspace does not let this hook post to this channel."],
  ],
  discord: [
    ["10015", "This Discord webhook was deleted: make a new one and set it as webhook_url."],
    ["50027", "Discord does not know this webhook's token: copy its address again."],
  ],
  teams: [["workflow", "The Teams workflow of this hook is disabled or was deleted: check it in Workflows."]],
  pagerduty: [["routing_key", "PagerDuty does not know this routing key: copy it from the service's integration."]],
  sms: [
    ["21211", "The gateway says that this is no phone number."],
    ["21610", "The owner of this phone number has replied STOP."],
    ["21408", "The gateway may not send to this country."],
    ["20003", "The gateway refuses the user name or password in SMS_GATEWAY_URL; the operator of this Pharos can correct them."],
  ],
};

/** Teams' older webhooks answer 200 and write into the body that it went wrong, with the status that it should have been. */
const TEAMS_FAILURE = /^webhook message delivery failed[^]*?http error (\d{3})/i;

/** The longest wait that a vendor's word is taken for, in ms. */
const LONGEST_WAIT_MS = 15 * 60_000;

/** What an answer, or none, means. `now` is for dates in Retry-After. */
export function readAnswer(type: ChannelType, result: OutboundResult, now: Date): AnswerOutcome {
  if (result.kind === "failed") return { kind: "retry", error: result.error, afterMs: null };
  const { headers, body } = result;
  const status = type === "teams" && result.status < 300 ? Number(TEAMS_FAILURE.exec(body)?.[1] ?? result.status) : result.status;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 429) return { kind: "retry", error: "The receiver answered 429: too much at once.", afterMs: retryAfterMs(headers["retry-after"], now) };
  if (status >= 500 || status === 408) return { kind: "retry", error: `The receiver answered ${status}.`, afterMs: status === 503 ? retryAfterMs(headers["retry-after"], now) : null };
  return { kind: "refused", error: `The receiver answered ${status}. ${meaningOf(type, status, body)}`.trim() };
}

function meaningOf(type: ChannelType, status: number, body: string): string {
  const said = body.toLowerCase();
  const meaning = MEANINGS[type]?.find(([part]) => said.includes(part));
  if (meaning) return meaning[1];
  if (status >= 300 && status < 400) return "Redirects are not followed: set the final address.";
  if (status === 404 || status === 410) return "The address is gone: make a new hook and set it.";
  return "";
}

/** Seconds or a date (RFC 9110 §10.2.3); Discord also gives fractions of a second. */
function retryAfterMs(header: string | string[] | undefined, now: Date): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "") return null;
  const ms = /^[\d.]+$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.ceil(Math.min(Math.max(ms, 0), LONGEST_WAIT_MS));
}
