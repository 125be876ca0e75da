import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { buildService, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../testing/service-process.ts";

interface Sent {
  named: boolean;
  body: string;
}

let folder: string;
beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-kill-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** About 1,000 events a second in requests of five; every second request names its events. */
const REQUESTS_PER_TURN = 10;
const TURN_MS = 50;
const TURNS = 40;
const EVENTS = 5;

function makeRequest(key: string, number: number): Sent {
  const named = number % 2 === 0;
  const message = named ? "named" : "unnamed";
  const events = Array.from({ length: EVENTS }, () => ({ type: "error", error_type: "Error", message, ...(named && { event_id: randomUUID() }) }));
  return { named, body: JSON.stringify({ key, session_id: `s${number % 50}`, events }) };
}

test(
  "kill -9 under load, three times: every event that was answered counts once, and a named one that was retried counts once",
  async () => {
    // One start takes events in on the thread of all roles, the others on threads of their own.
    const environment = (round: number) => serviceEnvironment(folder, { EDGE_THREADS: String(round % 3) });
    let service = await startServiceProcess(environment(0));
    const apiKey = /psk_\w{40}/.exec(service.output())![0];
    const beaconKey = /bpk_\w{24}/.exec(service.output())![0];
    const counts = { named: 0, unnamed: 0, unanswered: 0 };
    let number = 0;

    for (let round = 0; round < 3; round++) {
      const unsure = await loadUntilKilled(service, beaconKey, () => (number += 1), counts);
      service = await startServiceProcess(environment(round + 1));
      expect(service.output()).not.toContain("psk_");
      // What got no answer is sent again where it has names, as a client would.
      for (const sent of unsure) {
        if (!sent.named) continue;
        expect(await post(service, sent.body)).toBe(202);
        counts.named += EVENTS;
      }
      counts.unanswered += unsure.filter(({ named }) => !named).length * EVENTS;
    }

    expect(counts.named).toBeGreaterThan(1_000);
    await vi.waitFor(
      async () => {
        const occurrences = await occurrencesByMessage(service, apiKey);
        expect(occurrences.get("named")).toBe(counts.named);
        expect(occurrences.get("unnamed")).toBeGreaterThanOrEqual(counts.unnamed);
      },
      { timeout: 60_000, interval: 200 },
    );
    const unnamed = (await occurrencesByMessage(service, apiKey)).get("unnamed")!;
    expect(unnamed).toBeLessThanOrEqual(counts.unnamed + counts.unanswered);

    service.child.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  },
  180_000,
);

/** Sends for about two seconds (longer on a slow machine, never less), kills the service with requests in flight, and gives back those that got no answer. */
async function loadUntilKilled(service: ServiceProcess, key: string, next: () => number, counts: { named: number; unnamed: number }): Promise<Sent[]> {
  const unsure: Sent[] = [];
  const running: Promise<number>[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    for (let index = 0; index < REQUESTS_PER_TURN; index++) {
      const sent = makeRequest(key, next());
      running.push(
        post(service, sent.body).then(
          (status) => {
            expect(status).toBe(202);
            return (counts[sent.named ? "named" : "unnamed"] += EVENTS);
          },
          () => unsure.push(sent),
        ),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  }
  service.child.kill("SIGKILL");
  await Promise.all(running);
  expect(await service.exited).toBe("SIGKILL");
  return unsure;
}

const agent = new Agent({ connections: 50 });

async function post(service: ServiceProcess, body: string): Promise<number> {
  const { statusCode, body: answer } = await request(`${service.edge}/api/beacon`, { method: "POST", body, dispatcher: agent });
  await answer.dump();
  return statusCode;
}

async function occurrencesByMessage(service: ServiceProcess, apiKey: string): Promise<Map<string, number>> {
  const response = await fetch(`${service.base}/api/v1/errors`, { headers: { "X-API-Key": apiKey } });
  const { errors } = (await response.json()) as { errors: { message: string; occurrences: number }[] };
  return new Map(errors.map(({ message, occurrences }) => [message, occurrences]));
}
