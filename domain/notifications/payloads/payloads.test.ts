import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { DiscordMessage, PagerdutyEvent, SlackMessage, SmsMessage, TeamsMessage } from "../../../testing/vendor-schemas.ts";
import { EVENT_TYPES, type ChannelType } from "../../../schemas/vocabulary.ts";
import { describeEvent, describeMessage } from "../describe-event.ts";
import type { Notice } from "../notice.ts";
import { sumUp } from "../sum-up.ts";
import { payloadOf } from "./payload-of.ts";
import type { Payload, PayloadInput } from "./payload.ts";

const AT = new Date("2026-01-31T12:00:00.000Z");
const settings = { SMS_GATEWAY_URL: "https://AC0123:s3cret-t%2Fken@sms.example.com/2010-04-01/Messages.json", SMS_FROM: "+15005550006", PAGERDUTY_EVENTS_URL: "https://events.pagerduty.com/v2/enqueue", WEBHOOK_ALLOW_HTTP: false };
const noticeSettings = { organizationName: "Acme", timezone: "Europe/Berlin", publicUrl: "https://status.example.com", pageSlug: "acme" };
const INCIDENT = { id: "5c1f8f6e-1111-4222-8333-444455556666", title: "Checkout fails", status: "investigating", severity: "critical", services: ["Checkout", "Payments"], message: "We are looking into it." };
const configs: Record<ChannelType, PayloadInput["config"]> = {
  slack: { webhook_url: "https://hooks.slack.com/services/T0/B0/x" },
  discord: { webhook_url: "https://discord.com/api/webhooks/1/x" },
  teams: { webhook_url: "https://acme.webhook.office.com/x" },
  pagerduty: { routing_key: "R0UTINGKEY0000000000000000000000" },
  sms: { phone_number: "+4915112345678" },
  webhook: { url: "https://hooks.example.com/x" },
};

function requestOf(type: ChannelType, notice: Notice, changes: Partial<PayloadInput> = {}): Extract<Payload, { kind: "request" }> {
  const payload = payloadOf(type, { config: configs[type], notice, origin: { id: "e1", event: "incident.created", at: AT, data: INCIDENT }, settings, at: AT, ...changes });
  if (payload.kind !== "request") throw new Error(payload.error);
  return payload;
}
const bodyOf = (type: ChannelType, notice: Notice): unknown => (type === "sms" ? Object.fromEntries(new URLSearchParams(requestOf(type, notice).body)) : JSON.parse(requestOf(type, notice).body));
const opened = describeEvent({ type: "incident.created", data: INCIDENT, createdAt: AT }, noticeSettings);

describe("an incident that was opened is told to", () => {
  const link = "https://status.example.com/pages/acme";

  it("Slack as a header and an attachment in its colour", () => {
    expect(bodyOf("slack", opened)).toEqual({
      text: "Incident opened: Checkout fails: We are looking into it.",
      blocks: [{ type: "header", text: { type: "plain_text", text: "Incident opened: Checkout fails", emoji: true } }],
      attachments: [{
        color: "#d92d20",
        blocks: [
          { type: "section", text: { type: "mrkdwn", text: "We are looking into it." } },
          { type: "section", fields: ["*Status*\nInvestigating", "*Severity*\nCritical", "*Services*\nCheckout, Payments"].map((text) => ({ type: "mrkdwn", text })) },
          { type: "context", elements: ["Acme", "31 January 2026, 13:00 (Europe/Berlin)", `<${link}|Open the status page>`].map((text) => ({ type: "mrkdwn", text })) },
        ],
      }],
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it("Discord as an embed that mentions nobody", () => {
    expect(bodyOf("discord", opened)).toEqual({
      embeds: [{
        title: "Incident opened: Checkout fails", description: "We are looking into it.", url: link, color: 0xd92d20,
        fields: [{ name: "Status", value: "Investigating", inline: true }, { name: "Severity", value: "Critical", inline: true }, { name: "Services", value: "Checkout, Payments", inline: true }],
        footer: { text: "Acme" }, timestamp: "2026-01-31T12:00:00.000Z",
      }],
      allowed_mentions: { parse: [] },
    });
  });

  it("Teams as an Adaptive Card 1.5", () => {
    const { attachments } = bodyOf("teams", opened) as { attachments: { content: { body: unknown[]; actions: unknown[] } }[] };
    expect(attachments[0]!.content).toMatchObject({
      version: "1.5",
      body: [
        { type: "Container", style: "attention", items: [{ text: "Incident opened: Checkout fails" }] },
        { type: "TextBlock", text: "We are looking into it." },
        { type: "FactSet", facts: [{ title: "Status", value: "Investigating" }, { title: "Severity", value: "Critical" }, { title: "Services", value: "Checkout, Payments" }, { title: "Time", value: "31 January 2026, 13:00 (Europe/Berlin)" }] },
        { text: "Acme" },
      ],
      actions: [{ type: "Action.OpenUrl", title: "Open the status page", url: link }],
    });
  });

  it("PagerDuty as a trigger, and its end as a resolve by the same key", () => {
    const dedupKey = `incident/${INCIDENT.id}`;
    expect(bodyOf("pagerduty", opened)).toEqual({
      routing_key: "R0UTINGKEY0000000000000000000000", event_action: "trigger", dedup_key: dedupKey,
      payload: {
        summary: "Incident opened: Checkout fails", source: "Acme", severity: "critical", timestamp: "2026-01-31T12:00:00.000Z", class: "incident",
        custom_details: { status: "Investigating", severity: "Critical", services: "Checkout, Payments", time: "31 January 2026, 13:00 (Europe/Berlin)", message: "We are looking into it." },
      },
      links: [{ href: link, text: "Open the status page" }], client: "Pharos",
    });
    const resolved = describeEvent({ type: "incident.resolved", data: { ...INCIDENT, status: "resolved", duration_seconds: 4_000 }, createdAt: AT }, noticeSettings);
    expect(bodyOf("pagerduty", resolved)).toEqual({ routing_key: "R0UTINGKEY0000000000000000000000", event_action: "resolve", dedup_key: dedupKey });
    expect(requestOf("pagerduty", opened).url).toBe("https://events.pagerduty.com/v2/enqueue");
  });

  it("a phone in Twilio's form, signed in by a header that the address does not show", () => {
    const { url, headers, body } = requestOf("sms", opened);
    expect({ url, authorization: headers.authorization }).toEqual({ url: "https://sms.example.com/2010-04-01/Messages.json", authorization: `Basic ${Buffer.from("AC0123:s3cret-t/ken").toString("base64")}` });
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ To: "+4915112345678", From: "+15005550006", Body: `Acme: Incident opened: Checkout fails. We are looking into it. ${link}` });
  });

  it("a program of one's own as webhooks are, signed when there is a secret", () => {
    const plain = requestOf("webhook", opened);
    expect(JSON.parse(plain.body)).toEqual({ id: "e1", event: "incident.created", timestamp: "2026-01-31T12:00:00.000Z", data: INCIDENT });
    expect(Object.keys(plain.headers)).toEqual(["content-type"]);
    const signed = requestOf("webhook", opened, { config: { ...configs.webhook, secret: "mine" } });
    expect(signed.headers).toMatchObject({ "x-service-signature": createHmac("sha256", "mine").update(signed.body).digest("hex"), "webhook-id": "e1", "webhook-timestamp": "1769860800" });
    expect(signed.headers).not.toHaveProperty("webhook-signature");
    expect(requestOf("webhook", opened, { config: { ...configs.webhook, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=" } }).headers).toHaveProperty("webhook-signature");
  });
});

it("markup in a text stays text, and mentions nobody", () => {
  const text = "*a* [x](https://evil.example) <!channel> <@1> `c` & _d_\n# e";
  const notice = describeMessage({ id: "1", at: AT, title: text, text, tone: "warning" }, noticeSettings);
  const { attachments: [slack] } = bodyOf("slack", notice) as { attachments: { blocks: { text: { text: string } }[] }[] };
  expect(slack!.blocks[0]!.text.text).toBe("*a* [x](https://evil.example) &lt;!channel&gt; &lt;@1&gt; `c` &amp; _d_\n# e");
  const { embeds: [discord] } = bodyOf("discord", notice) as { embeds: { description: string }[] };
  expect(discord!.description).toBe("\\*a\\* \\[x\\]\\(https://evil.example\\) \\<!channel\\> \\<@1\\> \\`c\\` & \\_d\\_\n\\# e");
  const { attachments: [teams] } = bodyOf("teams", notice) as { attachments: { content: { body: { text: string }[] } }[] };
  expect(teams!.content.body[1]!.text).toBe("\\*a\\* \\[x\\](https://evil.example) <!channel> <@1> \\`c\\` & \\_d\\_\n\n\\# e");
});

describe("a text message", () => {
  const smsOf = (title: string, text: string, pageSlug: string | null = null) => (bodyOf("sms", describeEvent({ type: "incident.created", data: { ...INCIDENT, title, message: text }, createdAt: AT }, { ...noticeSettings, pageSlug })) as { Body: string }).Body;

  it("has at most three segments of the alphabet that it needs", () => {
    expect(smsOf("x", "y".repeat(2_000))).toHaveLength(459);
    expect(smsOf("x", "[".repeat(2_000)).length).toBeLessThan(250);
    expect(smsOf("x", "д".repeat(2_000))).toHaveLength(201);
    expect(smsOf("🚢".repeat(30), "🚢".repeat(500)).length).toBeLessThanOrEqual(201);
    expect(smsOf("x", "y".repeat(2_000), "acme")).toMatch(/y\.\.\. https:\/\/status\.example\.com\/pages\/acme$/);
  });

  it("keeps the larger alphabet's place free of typographic signs", () => {
    expect(smsOf("It’s “down” – again…", "")).toBe('Acme: Incident opened: It\'s "down" - again...');
  });

  it.each([
    { SMS_GATEWAY_URL: null, SMS_FROM: "+1", error: "its operator must set SMS_GATEWAY_URL and SMS_FROM" },
    { SMS_GATEWAY_URL: "https://sms.example.com/", SMS_FROM: null, error: "its operator must set SMS_FROM" },
  ])("needs the operator's settings: $error", ({ error, ...missing }) => {
    expect(payloadOf("sms", { config: configs.sms, notice: opened, origin: { id: "e1", event: "incident.created", at: AT, data: {} }, settings: { ...settings, ...missing }, at: AT })).toEqual({ kind: "unsendable", error: expect.stringContaining(error) as string });
  });
});

/** Long, with markup, emoji, halves of pairs, control characters and blanks. */
const nasty = fc.oneof(
  fc.constantFrom("", " ", "\n\n", "<!channel> & <https://evil.example|x>", "@everyone `*_~|[a](b)#", "\u0000\u0001\u2028\ud83d", "👩‍👩‍👧‍👦".repeat(2_000), "\u0001".repeat(10_000), "&".repeat(10_000), "*".repeat(10_000), "ж".repeat(10_000), "\n".repeat(5_000) + "x"),
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.array(fc.nat(0xffff), { maxLength: 400 }).map((codes) => String.fromCharCode(...codes)),
);
const data = fc.record({ id: fc.uuid(), title: nasty, name: nasty, domain: nasty, url: nasty, error: nasty, message: nasty, description: nasty, status: nasty, severity: fc.constantFrom("minor", "major", "critical"), services: fc.array(nasty, { maxLength: 20 }), days_until_expiry: fc.integer(), starts_at: fc.constantFrom("2026-01-31T12:00:00Z", "never"), issuer: nasty, registrar: nasty });
const anySettings = fc.record({ organizationName: nasty, timezone: fc.constantFrom("Europe/Berlin", "Asia/Kathmandu", "Nowhere/Land"), publicUrl: fc.constantFrom(null, "https://status.example.com"), pageSlug: fc.constantFrom(null, "acme") });
const anyNotice = fc.oneof(
  fc.tuple(fc.constantFrom(...EVENT_TYPES), data, anySettings).map(([type, data, settings]) => describeEvent({ type, data, createdAt: AT }, settings)),
  fc.tuple(nasty, nasty, fc.uuid(), anySettings).map(([title, text, id, settings]) => describeMessage({ id, text, title, at: AT, tone: "warning" }, settings)),
);
const notices = fc.oneof(anyNotice, fc.array(anyNotice, { minLength: 2, maxLength: 30 }).map((all) => sumUp(all, AT, "UTC")));

describe("any notice makes a request that its vendor takes", () => {
  it.each<[ChannelType, z.ZodType]>([["slack", SlackMessage], ["discord", DiscordMessage], ["teams", TeamsMessage], ["pagerduty", PagerdutyEvent], ["sms", SmsMessage]])("%s", (type, schema) => {
    fc.assert(fc.property(notices, (notice) => {
      const { error } = schema.safeParse(bodyOf(type, notice));
      expect(error?.issues).toBeUndefined();
    }), { numRuns: 300 });
  });
});
