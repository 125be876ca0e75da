import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { newId } from "../platform/ids.ts";
import { buildService, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../testing/service-process.ts";
import { beaconsOf } from "./bodies.ts";
import { judge, wanted, type GoalName } from "./goals.ts";
import { cpuOfFamily, machine, option, pssOfFamily, quantile, table } from "./measuring.ts";

/**
 * Rows 14, 15, 17 and 18 of the goals, on `npm start` with its embedded stores: how long it takes to start, what it takes at rest, what an
 * error costs at 4 a second and when it is visible, and what a check costs at 500 every 30 s. CPU and PSS are those of all its processes;
 * rest is part of each cost, because nobody can buy an error without it.
 *
 *   npx tsx bench/small.ts [--seconds 60] [--settle 70]
 *
 * `--settle` is how long nothing happens before the first measurement. Exits 1 when a goal is missed.
 */
const SECONDS = Number(option("seconds", "60"));
const SETTLE_SECONDS = Number(option("settle", "70"));
const WARM_SECONDS = 10;
const ERRORS_PER_SECOND = 4;
const PROBES = 40;
const MONITORS = 500;
const CHECK_EVERY_SECONDS = 30;
const READ_EVERY_MS = 100;
const GIVE_UP_MS = 30_000;

const lines: string[][] = [];
const reached: boolean[] = [];

function note(goal: GoalName, what: string, value: number, digits = 1): void {
  reached.push(judge(goal, value));
  lines.push([what, value.toFixed(digits), wanted(goal)]);
}

/** CPU-ms of all processes over some seconds. */
async function cpuOver(pid: number, seconds: number): Promise<number> {
  const before = cpuOfFamily(pid);
  await wait(seconds * 1_000);
  return (cpuOfFamily(pid) - before) / 1_000;
}

async function post(url: string, apiKey: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(url, { method: "POST", headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** Sends an error four times a second until it is stopped; throws then when one was not taken. */
function sendErrors({ edge }: ServiceProcess, beaconKey: string): () => Promise<void> {
  const bodies = beaconsOf({ beaconKey, events: 1, requests: 2_000 });
  const sent: Promise<number>[] = [];
  const send = async (body: string): Promise<number> => (await fetch(`${edge}/api/beacon`, { method: "POST", body })).status;
  const sending = setInterval(() => sent.push(send(bodies.pop()!)), 1_000 / ERRORS_PER_SECOND);
  return async () => {
    clearInterval(sending);
    const refused = (await Promise.all(sent)).find((status) => status !== 202);
    if (refused !== undefined) throw new Error(`A beacon was answered ${refused}.`);
  };
}

/** ms from an error's answer until GET /errors shows it, one after the other. */
async function timesToVisible({ base, edge }: ServiceProcess, apiKey: string, beaconKey: string): Promise<number[]> {
  const took: number[] = [];
  for (let number = 0; number < PROBES; number++) {
    const name = `Probe${process.pid}x${number}`;
    await fetch(`${edge}/api/beacon`, { method: "POST", body: JSON.stringify({ key: beaconKey, session_id: name, events: [{ event_id: newId(), type: "error", error_type: name, message: name }] }) });
    const began = performance.now();
    for (let shown = false; !shown && performance.now() - began < GIVE_UP_MS; ) {
      await wait(READ_EVERY_MS);
      const answer = await fetch(`${base}/api/v1/errors?limit=20`, { headers: { "X-API-Key": apiKey } });
      const { errors } = (await answer.json()) as { errors: { message: string }[] };
      shown = errors.some(({ message }) => message === name);
    }
    took.push(performance.now() - began);
    // Not in step with the service's own ticks.
    await wait(Math.random() * 1_000);
  }
  return took;
}

async function costOfChecks({ base, child }: ServiceProcess, apiKey: string): Promise<void> {
  let checks = 0;
  const target = createServer((_request, response) => {
    checks++;
    response.end("ok");
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const { port } = target.address() as AddressInfo;
  for (let number = 0; number < MONITORS; number++) await post(`${base}/api/v1/uptime-monitors`, apiKey, { name: `Shop ${number}`, url: `http://127.0.0.1:${port}/${number}`, interval_seconds: CHECK_EVERY_SECONDS });
  // Once around: first checks come at once, later ones in their own phase.
  await wait(1.5 * CHECK_EVERY_SECONDS * 1_000);
  const before = checks;
  const spent = await cpuOver(child.pid!, SECONDS);
  note("small/check", `a check at ${MONITORS} every ${CHECK_EVERY_SECONDS} s (${checks - before} checks), CPU-ms`, spent / (checks - before), 2);
  target.close();
  target.closeAllConnections();
}

async function end(service: ServiceProcess): Promise<void> {
  service.child.kill("SIGTERM");
  await service.exited;
}

async function main(): Promise<boolean> {
  await buildService();
  const folder = await mkdtemp(join(tmpdir(), "pharos-small-"));
  const environment = serviceEnvironment(folder, { HOST: "127.0.0.1", QUIET_BATCH_MS: "1300", OUTBOUND_ALLOW: "127.0.0.1/32", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0" });
  const start = async (): Promise<[ServiceProcess, number]> => {
    const began = performance.now();
    return [await startServiceProcess(environment), (performance.now() - began) / 1_000];
  };
  const [first, firstSeconds] = await start();
  note("small/first-start", "first start until ready, s", firstSeconds);
  const [apiKey, beaconKey] = [/psk_\w{40}/.exec(first.output())![0], /bpk_\w+/.exec(first.output())![0]];
  await end(first);
  const [service, seconds] = await start();
  const pid = service.child.pid!;
  try {
    note("small/start", "start on existing data until ready, s", seconds);
    await wait(SETTLE_SECONDS * 1_000);
    note("small/memory", "memory at rest, sum of PSS, MB", pssOfFamily(pid), 0);
    note("small/idle", "at rest, CPU-ms a second", (await cpuOver(pid, SECONDS)) / SECONDS);
    const stop = sendErrors(service, beaconKey);
    await wait(WARM_SECONDS * 1_000);
    const spent = await cpuOver(pid, SECONDS);
    note("small/error", `an error at ${ERRORS_PER_SECOND} a second, CPU-ms`, spent / (SECONDS * ERRORS_PER_SECOND));
    const visible = await timesToVisible(service, apiKey, beaconKey);
    lines.push(["until it is visible, p50, ms", quantile(visible, 0.5).toFixed(0), ""]);
    note("small/visible", "until it is visible, p99, ms", quantile(visible, 0.99), 0);
    await stop();
    await costOfChecks(service, apiKey);
  } finally {
    await end(service);
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`npm start with its embedded stores, ${SECONDS} s each; ${machine()}\n`);
  console.log(table([["what", "measured", "wanted"], ...lines]));
  return reached.every(Boolean);
}

process.exitCode = (await main()) ? 0 : 1;
