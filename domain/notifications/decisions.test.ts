import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutboundResult } from "../../platform/outbound/outbound.ts";
import type { ChannelType, EventType } from "../../schemas/vocabulary.ts";
import { chooseNext } from "./choose-next.ts";
import { cutEscaped, cutText } from "./cut-text.ts";
import { describeEvent } from "./describe-event.ts";
import { pauseUntil, planRetry } from "./plan-retry.ts";
import { readAnswer, type AnswerOutcome } from "./read-answer.ts";
import { redact } from "./redact.ts";
import { sumUp } from "./sum-up.ts";

const AT = new Date("2026-01-31T12:00:00.000Z");
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);
const settings = { organizationName: "Acme", timezone: "America/New_York", publicUrl: null, pageSlug: "acme" };
const noticeOf = (type: EventType, data: Record<string, unknown>, at = AT) => describeEvent({ type, data, createdAt: at }, settings);

describe("an event as a notice", () => {
  it.each<[EventType, Record<string, unknown>, Record<string, unknown>]>([
    ["incident.created", { id: "1", title: "Slow", severity: "minor" }, { kind: "opened", tone: "warning", title: "Incident opened: Slow", dedupKey: "incident/1" }],
    ["incident.updated", { id: "1", title: "Slow", severity: "major", message: "Better." }, { kind: "updated", tone: "error", title: "Incident updated: Slow", text: "Better." }],
    ["incident.resolved", { id: "1", title: "Slow", severity: "major", duration_seconds: 90_061 }, { kind: "resolved", tone: "good", title: "Incident resolved: Slow", fields: [{ name: "Severity", value: "Major" }, { name: "Duration", value: "1 d 1 h" }] }],
    ["incident.deleted", { id: "1", title: "Slow", status: "identified" }, { kind: "resolved", title: "Incident deleted: Slow", dedupKey: "incident/1" }],
    ["maintenance.scheduled", { id: "2", title: "Move", starts_at: "2026-07-01T12:00:00Z", ends_at: "2026-07-01T13:00:00Z", services: ["A", "B"] }, { kind: "info", tone: "info", title: "Maintenance scheduled: Move", fields: [{ name: "From", value: "1 July 2026, 08:00 (America/New_York)" }, { name: "Until", value: "1 July 2026, 09:00 (America/New_York)" }, { name: "Services", value: "A, B" }] }],
    ["maintenance.started", { id: "2", title: "Move" }, { kind: "opened", tone: "info", dedupKey: "maintenance/2" }],
    ["maintenance.completed", { id: "2", title: "Move" }, { kind: "resolved", tone: "good", dedupKey: "maintenance/2" }],
    ["monitor.down", { id: "3", name: "Shop", url: "https://shop.example.com", error: "No answer." }, { kind: "opened", tone: "critical", title: "Shop is down", text: "No answer.", fields: [{ name: "Address", value: "https://shop.example.com" }], dedupKey: "monitor/3" }],
    ["monitor.up", { id: "3", name: "Shop", url: null }, { kind: "resolved", title: "Shop is up again", dedupKey: "monitor/3", fields: [] }],
    ["ssl.expiring", { id: "4", domain: "shop.example.com", days_until_expiry: 1, issuer: "CA" }, { kind: "opened", tone: "warning", title: "The certificate of shop.example.com expires in 1 day", dedupKey: "certificate/4" }],
    ["ssl.expiring", { id: "4", domain: "shop.example.com", days_until_expiry: -1 }, { tone: "critical", title: "The certificate of shop.example.com has expired" }],
    ["domain.expiring", { id: "5", domain: "example.com", days_until_expiry: 14, expires_at: "2026-02-14T12:00:00Z", registrar: "R" }, { title: "The domain registration of example.com expires in 14 days", fields: [{ name: "Expires", value: "14 February 2026, 07:00 (America/New_York)" }, { name: "Registrar", value: "R" }], dedupKey: "registration/5" }],
  ])("%s", (type, data, expected) => expect(noticeOf(type, data)).toMatchObject(expected));

  it("has a link only where people find Pharos and the organization has a page", () => {
    const linkOf = (publicUrl: string | null, pageSlug: string | null, type: EventType = "incident.created") => describeEvent({ type, data: { id: "1" }, createdAt: AT }, { ...settings, publicUrl, pageSlug }).link?.url;
    expect([linkOf("https://s.example", "acme"), linkOf("https://s.example", "acme", "maintenance.started"), linkOf("https://s.example", null), linkOf(null, "acme"), linkOf("https://s.example", "acme", "monitor.down")]).toEqual(["https://s.example/pages/acme", "https://s.example/pages/acme", undefined, undefined, undefined]);
  });
});

describe("many notices as one", () => {
  it("count and name the worst and newest", () => {
    const many = [
      ...Array.from({ length: 12 }, (_, n) => noticeOf("incident.created", { id: String(n), title: `Slow ${n}`, severity: "minor" }, later(n))),
      noticeOf("monitor.down", { id: "m", name: "Shop" }, AT),
      noticeOf("incident.resolved", { id: "1", title: "Slow 1" }, later(20)),
    ];
    const { title, text, tone } = sumUp(many, later(30), "UTC");
    expect({ title, tone }).toEqual({ title: "14 notices: 12 incidents opened, 1 monitor down, 1 incident resolved", tone: "critical" });
    const lines = text.split("\n");
    expect(lines[0]).toBe("• Shop is down (31 January 2026, 07:00 (America/New_York))");
    expect(lines[1]).toMatch(/^• Incident opened: Slow 11 /);
    expect(lines.at(-1)).toBe("and 4 more");
  });
});

describe("what a channel is told next", () => {
  const waiting = (...each: string[]) => each.map((text, n) => ({ n, trigger: text === "test" ? "test" : "event", notice: { dedupKey: text } }));
  it.each<[string, ChannelType, string[], number[], number[]]>([
    ["nothing", "slack", [], [], []],
    ["the oldest", "slack", ["a", "b", "a"], [0], [0]],
    ["a test before all, alone", "slack", ["a", "b", "c", "d", "e", "test"], [5], [5]],
    ["all together when there are many", "slack", ["a", "b", "c", "d", "e", "f"], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]],
    ["fewer by text message", "sms", ["a", "b", "c"], [0, 1, 2], [0, 1, 2]],
    ["of one thing its last word at PagerDuty", "pagerduty", ["a", "b", "a", "c", "d", "a"], [0, 2, 5], [5]],
    ["each alone where a program listens", "webhook", ["a", "b", "c", "d", "e", "f", "a"], [0], [0]],
  ])("is %s", (_, type, texts, all, told) => {
    const next = chooseNext(type, waiting(...texts));
    expect([next?.all.map(({ n }) => n) ?? [], next?.told.map(({ n }) => n) ?? []]).toEqual([all, told]);
  });
});

describe("a vendor's answer", () => {
  const response = (status: number, body = "", headers: Record<string, string> = {}): OutboundResult => ({ kind: "response", status, body, headers, durationMs: 1 });
  const retry = (afterMs: number | null = null) => ({ kind: "retry", afterMs, error: expect.any(String) as string });
  const refused = (part: string) => ({ kind: "refused", error: expect.stringContaining(part) as string });
  it.each<[string, ChannelType, OutboundResult, object]>([
    ["ok", "slack", response(200, "ok"), { kind: "delivered" }],
    ["no content", "discord", response(204), { kind: "delivered" }],
    ["accepted", "pagerduty", response(202, '{"status":"success"}'), { kind: "delivered" }],
    ["created", "sms", response(201, '{"sid":"SM1"}'), { kind: "delivered" }],
    ["a removed Slack hook", "slack", response(404, "no_service"), refused("add a new one in Slack")],
    ["an archived channel", "slack", response(410, "channel_is_archived"), refused("is archived")],
    ["a refused payload", "slack", response(400, "invalid_payload"), refused("answered 400")],
    ["a deleted Discord webhook", "discord", response(404, '{"message": "Unknown Webhook", "code": 10015}'), refused("was deleted")],
    ["a failure that says 200", "teams", response(200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x"), retry()],
    ["a number that is none", "sms", response(400, '{"code": 21211}'), refused("no phone number")],
    ["a redirect", "webhook", response(302), refused("Redirects are not followed")],
    ["too much, for so many seconds", "slack", response(429, "", { "retry-after": "30" }), retry(30_000)],
    ["too much, for a fraction", "discord", response(429, "", { "retry-after": "0.65" }), retry(650)],
    ["too much, until a date", "slack", response(429, "", { "retry-after": "Sat, 31 Jan 2026 12:01:00 GMT" }), retry(60_000)],
    ["too much, for a year", "slack", response(429, "", { "retry-after": "31536000" }), retry(900_000)],
    ["too much, for nonsense", "slack", response(429, "", { "retry-after": "soon" }), retry()],
    ["a broken vendor", "slack", response(500), retry()],
    ["a vendor that is away for a while", "pagerduty", response(503, "", { "retry-after": "5" }), retry(5_000)],
    ["no answer", "slack", { kind: "failed", error: "No complete answer within 30 s.", durationMs: 1 }, retry()],
  ])("can be %s", (_, type, result, expected) => expect(readAnswer(type, result, AT)).toEqual(expected satisfies object as AnswerOutcome));
});

describe("a retry", () => {
  it("comes 10 s, 1 min, 5 min, 30 min and 2 h after the failure before, whatever came between", () => {
    const at = [0, 10, 70, 370, 2_170, 9_370].map(later);
    expect(at.map((each) => planRetry(AT, each, null))).toEqual([...at.slice(1), null]);
    expect(planRetry(AT, later(65), null)).toEqual(later(70));
    expect(planRetry(AT, later(0), 45_000)).toEqual(later(45));
  });

  it("lets what is new try again after a minute", () => {
    expect([pauseUntil(AT, later(10)), pauseUntil(AT, later(1_800)), pauseUntil(AT, null)]).toEqual([later(10), later(60), AT]);
  });
});

describe("a text that is cut", () => {
  it("is never longer, never holds half a character, and ends in an ellipsis", () => {
    const texts = fc.oneof(fc.string({ unit: "binary" }), fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)));
    fc.assert(fc.property(texts, fc.nat(40), (text, most) => {
      const cut = cutEscaped(text, most, (character) => (character === "&" ? "&amp;" : character));
      return cut.length <= most && !/\p{Surrogate}/u.test(cut) && !/&(?!amp;)/.test(cut);
    }));
    expect([cutText("abcdef", 6), cutText("abcdefg", 6), cutText("🚢🚢🚢", 5), cutText("ab", 0)]).toEqual(["abcdef", "abcde…", "🚢🚢…", ""]);
  });
});

it("what a vendor repeats of secrets is hidden", () => {
  const none = { SMS_GATEWAY_URL: null, SMS_FROM: null };
  const gateway = { SMS_GATEWAY_URL: "https://AC0123456:s3cret%2Fken@sms.example.com/Accounts/AC0123456/Messages.json", SMS_FROM: "+15005550006" };
  expect(redact("no hook T0123456/B0123456/abcdefgh here", { webhook_url: "https://hooks.slack.com/services/T0123456/B0123456/abcdefgh" }, none)).toBe("no hook …/…/… here");
  expect(redact('bad key "R0UTINGKEY"', { routing_key: "R0UTINGKEY" }, gateway)).toBe('bad key "…"');
  expect(redact("AC0123456 s3cret/ken s3cret%2Fken to 4915112345678 from +15005550006 to=%2B4915112345678", { phone_number: "+4915112345678" }, gateway)).toBe("… … … to … from … to=%2B…");
});
