import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestHouse, type TestHouse } from "../testing/house.ts";
import { kafkaAvailable, startKafka, type Kafka } from "../testing/kafka.ts";

describe.runIf(kafkaAvailable().available)("on a real Kafka", () => {
  let kafka: Kafka;
  let house: TestHouse;

  beforeAll(async () => {
    kafka = await startKafka();
    house = await startTestHouse({ KAFKA_BROKERS: kafka.brokers.join(",") });
  });
  afterAll(async () => {
    await house.stop();
    await kafka.stop();
  });

  async function beacon(message: string, events = 1): Promise<number> {
    const body = JSON.stringify({ key: house.organization.beaconKey, session_id: `s${Math.random()}`, events: Array.from({ length: events }, () => ({ type: "message", message })) });
    const response = await fetch(`${house.edge}/api/beacon`, { method: "POST", body });
    await response.arrayBuffer();
    return response.status;
  }

  function counted(message: string, occurrences: number) {
    return vi.waitFor(
      async () => {
        const { body } = await house.call<{ errors: { message: string; occurrences: number }[] }>("GET", "/errors");
        expect(body.errors.find((error) => error.message === message)?.occurrences).toBe(occurrences);
      },
      { timeout: 60_000, interval: 100 },
    );
  }

  test("beacons are counted exactly", async () => {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => beacon("through kafka", 5)));
    expect(new Set(statuses)).toEqual(new Set([202]));
    await counted("through kafka", 500);
  });

  test("a push is answered with its evaluation", async () => {
    const push = (error_rate: number) => house.call<{ status_change?: { current: string } }>("POST", "/api/metrics/ingest", { service_id: house.organization.serviceId, metrics: { error_rate } });
    expect((await push(12)).body.status_change?.current).toBe("partial_outage");
    expect((await push(0)).body.status_change?.current).toBe("operational");
  });

  test("a heartbeat comes up", async () => {
    const { body: monitor } = await house.call<{ id: string }>("POST", "/heartbeat-monitors", { name: "job", slug: "job", schedule_type: "interval", interval_seconds: 60, grace_seconds: 60 });
    expect((await house.call("POST", "/api/heartbeat/job", { status: "ok" })).status).toBe(200);
    await vi.waitFor(async () => expect((await house.call<{ status: string }>("GET", `/heartbeat-monitors/${monitor.id}`)).body.status).toBe("up"), { timeout: 60_000, interval: 100 });
  });

  test("while the broker is frozen everything is taken in, and afterwards it counts once", async () => {
    await kafka.freeze();
    const during = await Promise.all(Array.from({ length: 20 }, () => beacon("in the frost")));
    expect(new Set(during)).toEqual(new Set([202]));
    // This process also consumes, which it cannot do now.
    await vi.waitFor(async () => expect((await fetch(`${house.base}/readyz`)).status).toBe(503), { timeout: 60_000, interval: 500 });
    expect(await beacon("in the frost")).toBe(202);
    kafka.thaw();
    await counted("in the frost", 21);
  });
});
