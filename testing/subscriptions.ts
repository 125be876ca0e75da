import { isNotNull } from "drizzle-orm";
import { fanOut } from "../domain/events/fan-out.ts";
import type { Clock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { makeMailSender } from "../processors/mail/send.ts";
import { makeAnnouncing } from "../processors/subscribers/announce.ts";
import { makePosting } from "../processors/subscribers/post.ts";
import { mails, subscriberPosts } from "../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "./control-plane.ts";
import { startMailServer, type MailServer, type ReceivedMail } from "./mail-server.ts";

const PUBLIC_URL = "https://status.example.com";

export interface SubscriptionBench {
  plane: TestControlPlane;
  mail: MailServer;
  /** Goes for the control plane and the senders. */
  clock: Clock;
  /** Moves the time on, when nothing is being sent: its lease would end. */
  pass(milliseconds: number): Promise<void>;
  /** A request of a visitor; `url` may be whole, as mails have it. */
  visit(method: "GET" | "POST", url: string, body?: { json?: unknown; form?: string }, headers?: Record<string, string>): Promise<{ status: number; body: string; headers: Record<string, unknown> }>;
  /** Subscribes an address to a page and follows the link of its mail; resolves when it is active. */
  subscribe(slug: string, email: string, services?: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** A control plane, the senders of a scheduler and a mail server. */
export async function startSubscriptionBench({ caFile = null }: { caFile?: string | null } = {}): Promise<SubscriptionBench> {
  const mail = await startMailServer();
  const settings = { SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: "Acme <status@acme.example>", PUBLIC_URL, RATE_LIMIT_SUBSCRIBE: "0", SCHEDULER_TICK_MS: "20", OUTBOUND_ALLOW: "127.0.0.0/8", ...(caFile && { OUTBOUND_CA_FILE: caFile }) };
  const read = readConfig(settings);
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const { config } = read;
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
  const plane = await startTestControlPlane({ settings, clock });
  const { database } = plane;
  const log = makeLog("silent");
  const outbound = makeOutbound({ config: { ...config, OUTBOUND_CA_FILE: caFile } });
  const senders = [makeMailSender({ database, clock, config, log }), makeAnnouncing({ database, clock, config, log }), makePosting({ database, outbound, clock, config, log })];
  for (const sender of senders) sender.start();
  const fanning = setInterval(() => void fanOut(database, new Date(clock.now())).catch(() => undefined), 20);

  const visit: SubscriptionBench["visit"] = async (method, url, body = {}, headers = {}) => {
    const answer = await plane.app.inject({
      method,
      url: url.replace(PUBLIC_URL, ""),
      headers: { ...(body.json !== undefined && { "content-type": "application/json" }), ...(body.form !== undefined && { "content-type": "application/x-www-form-urlencoded" }), ...headers },
      ...(body.json !== undefined && { payload: JSON.stringify(body.json) }),
      ...(body.form !== undefined && { payload: body.form }),
    });
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };
  return {
    plane,
    mail,
    clock,
    visit,
    async pass(milliseconds) {
      const leased = () => Promise.all([mails, subscriberPosts].map((table) => database.$count(table, isNotNull(table.leaseToken))));
      while ((await leased()).some((count) => count > 0)) await new Promise((resolve) => setTimeout(resolve, 10));
      ahead += milliseconds;
    },
    async subscribe(slug, email, services) {
      const before = mail.mailsTo(email).length;
      const asked = await visit("POST", `/pages/${slug}/subscribers`, { json: { email, ...(services && { services }) } });
      if (asked.status !== 202) throw new Error(`${email} was answered ${asked.status}: ${asked.body}`);
      const confirmation = await mailAfter(mail, email, before);
      const confirmed = await visit("POST", linkOf(confirmation));
      if (confirmed.status !== 200) throw new Error(`the link of ${email} was answered ${confirmed.status}`);
    },
    async stop() {
      clearInterval(fanning);
      await Promise.all(senders.map((sender) => sender.stop()));
      await outbound.close();
      await mail.stop();
      await plane.stop();
    },
  };
}

async function mailAfter(mail: MailServer, address: string, count: number): Promise<ReceivedMail> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = mail.mailsTo(address)[count];
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no mail came to ${address}`);
}

/** The first link in a mail's text. */
export function linkOf({ parsed }: ReceivedMail): string {
  const [link] = /https:\/\/\S+/.exec(parsed.text ?? "") ?? [];
  if (link === undefined) throw new Error(`There is no link in "${parsed.text}".`);
  return link;
}

/** A header of a mail by its name in lower case. */
export function headerOf({ parsed }: ReceivedMail, name: string): string | undefined {
  return parsed.headers.find(({ key }) => key === name)?.value;
}
