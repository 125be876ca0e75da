import type { Notice, Tone } from "../notice.ts";
import { cutText } from "../cut-text.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { postJson } from "./post-json.ts";
import { PAGERDUTY } from "./vendor-limits.ts";

const SEVERITIES: Record<Tone, "critical" | "error" | "warning" | "info"> = { critical: "critical", error: "error", warning: "warning", info: "info", good: "info" };

/** Events API v2: what begins or goes on triggers, what ends resolves, both by the one key of what they tell of. Nothing is ever acknowledged for people. */
export function pagerdutyPayload({ config, notice, settings }: PayloadInput): Payload {
  const event = { routing_key: config.routing_key, event_action: notice.kind === "resolved" ? "resolve" : "trigger", dedup_key: notice.dedupKey };
  const body = event.event_action === "resolve" ? event : { ...event, ...triggered(notice) };
  return postJson(settings.PAGERDUTY_EVENTS_URL, body, true);
}

function triggered({ title, text, fields, link, tone, source, subject, when, at }: Notice): object {
  const details = Object.fromEntries(fields.map(({ name, value }) => [name.toLowerCase(), cutText(value, PAGERDUTY.detail)]));
  return {
    payload: {
      summary: cutText(title, PAGERDUTY.summary),
      source: cutText(source, PAGERDUTY.source),
      severity: SEVERITIES[tone],
      timestamp: at.toISOString(),
      class: subject,
      custom_details: { ...details, time: when, ...(text !== "" && { message: cutText(text, PAGERDUTY.detail) }) },
    },
    links: link ? [{ href: link.url, text: cutText(link.label, PAGERDUTY.linkText) }] : [],
    client: "Pharos",
  };
}
