import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { buildService, serviceEnvironment, startServiceProcess } from "../testing/service-process.ts";
import { beaconsOf } from "./bodies.ts";
import { httpRequest, load } from "./edge-load.ts";
import { judge, wanted } from "./goals.ts";
import { machine, median, option, pssOfFamily, table } from "./measuring.ts";

/**
 * Row 15 of the goals: the memory of `npm start` with its embedded stores, idle and under a load of errors, as the sum of PSS over all its
 * processes. Flat: the median of the last third of the time is at most a tenth above that of the second.
 *
 *   npx tsx bench/memory.ts [--seconds 600] [--rate 8000] [--idle 30] [--connections 64]
 *
 * `--rate` is events a second. Exits 1 when a goal is missed.
 */
const SECONDS = Number(option("seconds", "600"));
const RATE = Number(option("rate", "8000"));
const IDLE_SECONDS = Number(option("idle", "30"));
const CONNECTIONS = Number(option("connections", "64"));
const EVENTS = 10;
const FLAT = 1.1;

async function main(): Promise<boolean> {
  await buildService();
  const folder = await mkdtemp(join(tmpdir(), "pharos-memory-"));
  const service = await startServiceProcess(serviceEnvironment(folder, { HOST: "127.0.0.1", QUIET_BATCH_MS: "1300", RATE_LIMIT_ANONYMOUS: "0" }));
  try {
    await wait(IDLE_SECONDS * 1_000);
    const idle = pssOfFamily(service.child.pid!);
    const beaconKey = /bpk_\w+/.exec(service.output())![0];
    const requests = beaconsOf({ beaconKey, events: EVENTS, requests: 2_000 }).map((body) => httpRequest("/api/beacon", { "Content-Type": "application/json" }, body));
    const samples: number[] = [];
    const watching = setInterval(() => samples.push(pssOfFamily(service.child.pid!)), 5_000);
    const { taken, refused, seconds } = await load({ port: Number(new URL(service.edge).port), connections: CONNECTIONS, requests, ms: SECONDS * 1_000, perSecond: RATE / EVENTS });
    clearInterval(watching);
    const third = Math.floor(samples.length / 3);
    const [second, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
    console.log(`Memory of npm start, ${((taken * EVENTS) / seconds).toFixed(0)} errors a second for ${SECONDS} s, ${refused} requests refused; ${machine()}\n`);
    console.log(
      table([
        ["sum of PSS", "MB", "wanted"],
        [`idle, after ${IDLE_SECONDS} s`, idle.toFixed(0), wanted("small/memory")],
        ["most under load", Math.max(...samples).toFixed(0), wanted("memory/loaded")],
        ["median of the second third", second.toFixed(0), ""],
        ["median of the last third", last.toFixed(0), `≤ ${(FLAT * second).toFixed(0)}`],
      ]),
    );
    return [judge("small/memory", idle), judge("memory/loaded", Math.max(...samples)), last <= FLAT * second].every(Boolean);
  } finally {
    service.child.kill("SIGTERM");
    await service.exited;
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
