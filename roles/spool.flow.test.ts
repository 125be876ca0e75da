import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { heartbeatMonitors } from "../schemas/tables/all.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";
import { kafkaAvailable, startKafka, type Kafka } from "../testing/kafka.ts";

describe.runIf(kafkaAvailable().available)("Kafka away under load", () => {
  let kafka: Kafka;
  let house: TestHouse;
  const agent = new Agent({ connections: 40 });

  beforeAll(async () => {
    kafka = await startKafka();
    house = await startTestHouse({ KAFKA_BROKERS: kafka.brokers.join(","), SPOOL_AFTER_MS: "500", RATE_LIMIT_HEARTBEAT_MONITOR: "0" });
  }, 120_000);
  afterAll(async () => {
    await house.stop();
    await agent.close();
    await kafka.stop();
  }, 60_000);

  async function post(path: string, body: unknown): Promise<{ status: number; ms: number; text: string }> {
    const began = performance.now();
    const { statusCode, body: answer } = await request(`${house.edge}${path}`, { method: "POST", headers: { "x-api-key": house.organization.apiKey }, body: JSON.stringify(body), dispatcher: agent });
    return { status: statusCode, text: await answer.text(), ms: performance.now() - began };
  }

  /** Beacons of five events and pings, until `over`; every answer is kept. */
  async function load(over: Promise<unknown>) {
    const answers: { kind: "beacon" | "ping"; status: number }[] = [];
    const ended = new AbortController();
    void over.finally(() => ended.abort()).catch(() => undefined);
    const sender = async (kind: "beacon" | "ping", number: number) => {
      while (!ended.signal.aborted) {
        const events = Array.from({ length: 5 }, () => ({ type: "message", message: "through the spool" }));
        const { status } = kind === "beacon" ? await post("/api/beacon", { key: house.organization.beaconKey, session_id: `s${number}`, events }) : await post("/api/heartbeat/steady", { status: "ok" });
        answers.push({ kind, status });
      }
    };
    await Promise.all([...Array.from({ length: 12 }, (_, number) => sender("beacon", number)), sender("ping", 0)]);
    return answers;
  }

  async function occurrences(): Promise<number> {
    const { body } = await house.call<{ errors: { message: string; occurrences: number }[] }>("GET", "/errors");
    return body.errors.find(({ message }) => message === "through the spool")?.occurrences ?? 0;
  }

  const status = async () => (await house.pharos.house.database.select({ status: heartbeatMonitors.status }).from(heartbeatMonitors))[0]!.status;

  test("all is answered as taken, counts once afterwards, and no heartbeat monitor falls", async () => {
    const made = await house.call("POST", "/heartbeat-monitors", { name: "steady", slug: "steady", schedule_type: "interval", interval_seconds: 60, grace_seconds: 60 });
    expect(made.status).toBe(201);
    // Shorter than people may have it, so that the outage need not last for minutes.
    await house.pharos.house.database.update(heartbeatMonitors).set({ intervalSeconds: 10, graceSeconds: 1 });
    expect((await post("/api/heartbeat/steady", { status: "ok" })).status).toBe(200);
    await vi.waitFor(async () => expect(await status()).toBe("up"), 15_000);
    const seen = new Set<string>();
    const watching = setInterval(() => void status().then((each) => seen.add(each)), 100);
    onTestFinished(() => clearInterval(watching));

    const outage = (async () => {
      await kafka.freeze();
      await vi.waitFor(async () => expect((await metrics()).pharos_spool_oldest_seconds).toBeGreaterThan(13), { timeout: 60_000, interval: 250 });
      const push = await post("/api/metrics/ingest", { service_id: house.organization.serviceId, metrics: { error_rate: 12 } });
      const second = await post("/api/metrics/ingest", { service_id: house.organization.serviceId, metrics: { error_rate: 12 } });
      expect([push.status, second.status]).toEqual([202, 202]);
      expect(JSON.parse(second.text)).toMatchObject({ evaluation: "pending" });
      expect(second.ms).toBeLessThan(400);
      kafka.thaw();
      // The load goes on while the spool is drained.
      await vi.waitFor(async () => expect((await metrics()).pharos_spool_frames).toBe(0), { timeout: 60_000, interval: 250 });
    })();
    const answers = await load(outage);
    await outage;
    // A monitor without pings falls, as it should, when the machine takes longer to count what was sent.
    const pinging = setInterval(() => void post("/api/heartbeat/steady", { status: "ok" }), 500);
    onTestFinished(() => clearInterval(pinging));

    expect(new Set(answers.filter(({ kind }) => kind === "beacon").map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.filter(({ kind }) => kind === "ping").map((answer) => answer.status))).toEqual(new Set([200]));
    const beacons = answers.filter(({ kind }) => kind === "beacon");
    await vi.waitFor(async () => expect(await occurrences()).toBe(5 * beacons.length), { timeout: 60_000, interval: 250 });
    await vi.waitFor(async () => expect(await provenAgain()).toBe(true), { timeout: 30_000, interval: 250 });
    expect(seen).not.toContain("down");
  }, 240_000);

  /** The edge tells of no unsent ping any more. */
  async function provenAgain(): Promise<boolean> {
    const { rows } = await house.pharos.house.database.execute<{ unsent: number }>("select count(oldest_unsent_at)::int as unsent from edges");
    return rows[0]!.unsent === 0;
  }

  async function metrics(): Promise<Record<string, number>> {
    const text = await (await fetch(`${house.edge}/metrics`)).text();
    return Object.fromEntries([...text.matchAll(/^(pharos_spool_\w+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]));
  }
});
