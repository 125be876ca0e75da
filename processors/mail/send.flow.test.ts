import { eq } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { forgetFinished } from "../../domain/mail/forget-finished.ts";
import { queueMail, queueSubscribersMails } from "../../domain/mail/queue-mail.ts";
import { newSecret } from "../../domain/subscribers/tokens.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog, type Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { mails, organizations, statusPages, subscribers } from "../../schemas/tables/all.ts";
import { makeCertificate } from "../../testing/certificate.ts";
import { startMailServer, type MailServer } from "../../testing/mail-server.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { makeMailSender } from "./send.ts";

const MINUTE = 60_000;
const log = makeLog("silent");

let now: number;
const clock: Clock = { now: () => now, monotonic: () => performance.now() };
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let organizationId: string;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
  organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
});
afterAll(() => fresh.drop());
beforeEach(() => {
  now = Date.parse("2026-01-31T12:00:00.000Z");
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  await database.delete(mails);
});

async function serve(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  stops.push(() => server.stop());
  return server;
}

function send(url: string | null, { caFile = null, log: wanted = log }: { caFile?: string | null; log?: Log } = {}) {
  const config = { SMTP_URL: url, MAIL_FROM: "Acme Status <status@acme.example>", SMTP_CONNECTIONS: 3, OUTBOUND_CA_FILE: caFile, SCHEDULER_TICK_MS: 20, SHUTDOWN_LIMIT_MS: 2_000 };
  const sender = makeMailSender({ database, clock, config, log: wanted });
  sender.start();
  stops.push(() => sender.stop());
  return sender;
}

const queue = (more: Partial<Parameters<typeof queueMail>[1]> = {}) => queueMail(database, { organizationId, to: "ada@example.com", subject: "Hello", text: "Text\n", at: new Date(now), ...more });
const rows = () => database.select().from(mails);
const only = async () => (await rows())[0]!;

describe("a mail", () => {
  it("goes by STARTTLS and login, in text and HTML, and its text is kept no longer", async () => {
    const certificate = makeCertificate();
    stops.push(async () => certificate.remove());
    const server = await serve({ login: { certificate, user: "me@example.com", password: "p/w: d" } });
    send(`smtp://me%40example.com:p%2Fw%3A%20d@localhost:${server.port}`, { caFile: certificate.file });
    await queue({ subject: "Ünder way", html: "<p>Hello</p>", headers: { "X-Kind": "notice" } });
    await expect.poll(() => server.mails).toHaveLength(1);
    const { parsed, secure, user, to } = server.mails[0]!;
    expect({ secure, user, to }).toEqual({ secure: true, user: "me@example.com", to: "ada@example.com" });
    expect(parsed).toMatchObject({ subject: "Ünder way", from: { name: "Acme Status", address: "status@acme.example" } });
    expect(parsed.text?.trimEnd()).toBe("Text");
    expect(parsed.html).toContain("<p>Hello</p>");
    expect(new Map(parsed.headers.map(({ key, value }) => [key, value]))).toEqual(expect.objectContaining(new Map([["auto-submitted", "auto-generated"]])) as Map<string, string>);
    await expect.poll(async () => (await only()).status).toBe("sent");
    const row = await only();
    expect(row).toMatchObject({ attempts: 1, text: null, html: null, headers: null, error: null, finishedAt: new Date(now), to: "ada@example.com" });
    expect(parsed.messageId).toBe(`<${row.id}@acme.example>`);
  });

  it("is one mail to one address, whatever its texts hold", async () => {
    const server = await serve();
    send(`smtp://127.0.0.1:${server.port}`);
    await queue({ subject: "a\r\nBcc: eve@example.com\r\n\r\nbody", headers: { "X-Kind": "b\nBcc: eve@example.com" }, text: ".\r\n.\r\nMAIL FROM:<x@y>\r\n" });
    await expect.poll(() => server.mails).toHaveLength(1);
    const { parsed } = server.mails[0]!;
    expect(parsed.subject).toBe("a Bcc: eve@example.com body");
    expect(parsed.bcc ?? []).toEqual([]);
    expect(parsed.headers.map(({ key }) => key)).not.toContain("bcc");
    expect(parsed.text).toBe(".\n.\nMAIL FROM:<x@y>\n");
  });

  it("waits for its server and is sent once", async () => {
    const server = await startMailServer();
    await server.stop();
    send(`smtp://127.0.0.1:${server.port}`);
    await queue();
    for (const [attempts, minutes] of [[1, 1], [2, 5]] as const) {
      await expect.poll(async () => (await only()).attempts).toBe(attempts);
      expect(await only()).toMatchObject({ status: "pending", dueAt: new Date(now + minutes * MINUTE), error: expect.stringMatching(/ECONNREFUSED/) as string });
      now += minutes * MINUTE;
    }
    await expect.poll(async () => (await only()).attempts).toBe(3);
    const back = await serve({ port: server.port });
    now += 30 * MINUTE;
    await expect.poll(async () => (await only()).status).toBe("sent");
    expect(back.mails).toHaveLength(1);
    expect(await only()).toMatchObject({ attempts: 4, error: null });
  });

  it("is given up after the sixth try", async () => {
    const server = await serve({ judgeRecipient: () => ({ code: 451, text: "4.7.1 try later" }) });
    send(`smtp://127.0.0.1:${server.port}`);
    await queue();
    for (const [attempts, minutes] of [[1, 1], [2, 5], [3, 30], [4, 120], [5, 480]] as const) {
      await expect.poll(async () => (await only()).attempts).toBe(attempts);
      now += minutes * MINUTE;
    }
    await expect.poll(async () => (await only()).status).toBe("failed");
    expect(await only()).toMatchObject({ attempts: 6, error: "The mail server answered: 451 4.7.1 try later", text: null });
  });

  it("that another scheduler sends too, because the first died before it could say so, has the same Message-ID", async () => {
    // After the server has the mail and before it says so, the lease ends and is taken over.
    let released = false;
    const server = await serve({
      async beforeTaken() {
        if (released) return;
        released = true;
        await database.update(mails).set({ leaseToken: null, dueAt: new Date(now) });
        await expect.poll(() => server.mails.length).toBe(2);
      },
    });
    const url = `smtp://127.0.0.1:${server.port}`;
    send(url);
    await queue();
    await expect.poll(() => released).toBe(true);
    send(url);
    await expect.poll(async () => (await only()).status).toBe("sent");
    expect(server.mails).toHaveLength(2);
    expect(server.mails[0]!.parsed.messageId).toBe(server.mails[1]!.parsed.messageId);
    // Of the two one was recorded.
    for (const stop of stops.splice(0).toReversed()) await stop();
    expect((await only()).attempts).toBe(1);
  });

  it("is sent by one of many senders", async () => {
    const server = await serve();
    for (let i = 0; i < 40; i++) await queue({ to: `user${i}@example.com` });
    for (let i = 0; i < 3; i++) send(`smtp://127.0.0.1:${server.port}`);
    await expect.poll(async () => (await rows()).filter(({ status }) => status === "sent").length).toBe(40);
    expect(new Set(server.mails.map(({ to }) => to)).size).toBe(40);
    expect(server.mails).toHaveLength(40);
  });

  it("is forgotten 30 days after it was sent", async () => {
    const server = await serve();
    send(`smtp://127.0.0.1:${server.port}`);
    await queue();
    await expect.poll(async () => (await only()).status).toBe("sent");
    await forgetFinished(database, new Date(now + 30 * 24 * 60 * MINUTE));
    expect(await rows()).toHaveLength(1);
    await forgetFinished(database, new Date(now + 30 * 24 * 60 * MINUTE + 1));
    expect(await rows()).toHaveLength(0);
  });
});

describe("a subscriber's mails that are refused for good", () => {
  async function subscribe(address: string): Promise<string> {
    const [page, id] = [newId(), newId()];
    await database.insert(statusPages).values({ id: page, organizationId, name: "Acme", slug: `acme-${page.slice(0, 8)}` });
    await database.insert(subscribers).values({ id, organizationId, statusPageId: page, kind: "email", address, addressKey: address, target: address, state: "active", secret: newSecret(), asksSince: new Date(now), lastAskedAt: new Date(now), createdAt: new Date(now), updatedAt: new Date(now) });
    return id;
  }
  const stateOf = async (id: string) => (await database.select({ state: subscribers.state, bounces: subscribers.bounces }).from(subscribers).where(eq(subscribers.id, id)))[0];

  it("quarantine it at the third, and what was waiting then is not sent", async () => {
    const server = await serve({ judgeRecipient: (address) => (address === "gone@example.com" ? { code: 550, text: "5.1.1 no such user" } : null) });
    send(`smtp://127.0.0.1:${server.port}`);
    const id = await subscribe("gone@example.com");
    const tell = () => queueSubscribersMails(database, [{ organizationId, kind: "announcement", subscriberId: id, eventId: newId(), to: "gone@example.com", subject: "s", text: "t", at: new Date(now) }]);
    for (let bounces = 1; bounces <= 3; bounces++) {
      await tell();
      await expect.poll(() => stateOf(id)).toEqual({ state: bounces === 3 ? "quarantined" : "active", bounces });
    }
    await tell();
    await expect.poll(async () => (await rows()).filter(({ status }) => status === "failed").map(({ error }) => error).sort()).toEqual([
      ...Array.from({ length: 3 }, () => "The mail server answered: 550 5.1.1 no such user"),
      "The subscriber left before it was sent.",
    ]);
    expect(await stateOf(id)).toEqual({ state: "quarantined", bounces: 3 });
  });

  it("are not counted when it is the sender that is refused", async () => {
    const certificate = makeCertificate();
    stops.push(async () => certificate.remove());
    const server = await serve({ login: { certificate, user: "u", password: "right" } });
    send(`smtp://u:wrong-one@127.0.0.1:${server.port}`);
    const id = await subscribe("fine@example.com");
    await queueSubscribersMails(database, [{ organizationId, kind: "announcement", subscriberId: id, eventId: newId(), to: "fine@example.com", subject: "s", text: "t", at: new Date(now) }]);
    await expect.poll(async () => (await only()).attempts).toBe(1);
    const row = await only();
    expect(row.status).toBe("pending");
    expect(row.error).not.toContain("wrong-one");
    expect(await stateOf(id)).toEqual({ state: "active", bounces: 0 });
  });
});

it("without SMTP_URL mails are recorded as failed and it is told once", async () => {
  const told: unknown[] = [];
  send(null, { log: { ...log, warn: (...line: unknown[]) => told.push(line), debug: () => undefined, error: (...line: unknown[]) => told.push(line) } as unknown as Log });
  await queue();
  await expect.poll(async () => (await only()).status).toBe("failed");
  await queue();
  await expect.poll(async () => (await rows()).filter(({ status }) => status === "failed").length).toBe(2);
  expect((await rows()).map(({ error, text }) => ({ error, text }))).toEqual(Array.from({ length: 2 }, () => ({ error: "not configured: SMTP_URL is not set", text: null })));
  expect(told).toEqual([["SMTP_URL is not set: mails are recorded as failed and nobody gets them"]]);
});
