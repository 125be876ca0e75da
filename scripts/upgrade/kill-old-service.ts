import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { makeLedger, type Ledger } from "../../testing/ledger.ts";
import type { ServiceProcess } from "../../testing/service-process.ts";
import { beaconBody, type Tenant } from "./old-frames.ts";
import { startOldLoad, type OldLoad } from "./old-load.ts";
import { startService, upgradeEnvironment } from "./started-services.ts";

/** What the older version took in before it was killed for the last time. */
export interface LoadedVersion {
  tenant: Tenant & { apiKey: string };
  ledger: Ledger;
  sent: Pick<OldLoad, "pushes" | "pings">;
  /** Beacons with event ids that were answered; a client may repeat them. */
  retries: { message: string; events: number; bodies: string[] };
}

const KILLS = 3;
/** Acked between two kills, at least, and how long that may take. */
const EVENTS_OF_ROUND = 1_000;
const ROUND_MS = 20_000;
const RETRIED_BODIES = 10;
const EVENTS_OF_BODY = 3;
const MONITOR = "upgraded";

/** Starts the older version on an empty data folder, loads it, and kills it several times. */
export async function killUnderLoad(old: string, folder: string, tell: (sentence: string) => void): Promise<LoadedVersion> {
  const program = join(old, "dist", "main.js");
  let service = await startService(upgradeEnvironment(folder), program);
  const tenant = await makeTenant(old, folder, service);
  const ledger = makeLedger("taken in by the version before");
  const retries = await sendRetried(service, tenant.beaconKey);
  const load = startOldLoad(service, { ...tenant, monitor: MONITOR }, ledger);
  for (let kill = 1; kill <= KILLS; kill++) {
    const [before, deadline] = [ledger.count("acked"), performance.now() + ROUND_MS];
    while (ledger.count("acked") < before + EVENTS_OF_ROUND && performance.now() < deadline) await wait(20);
    service.child.kill("SIGKILL");
    await service.exited;
    if (kill === KILLS) break;
    service = await startService(upgradeEnvironment(folder), program);
    load.moveTo(service);
    tell(`the old version was killed under load, ${ledger.count("acked")} events acked`);
  }
  await load.stop();
  tell(`the old version was killed at last, ${ledger.count("acked")} events, ${load.pushes.acked} pushes and ${load.pings.acked} pings acked`);
  return { tenant, ledger, sent: load, retries };
}

async function makeTenant(old: string, folder: string, service: ServiceProcess): Promise<LoadedVersion["tenant"]> {
  const program = join(old, "dist", "clients", "cli", "main.js");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, "organization", "create", "--name", "Upgraded", "--plan", "team", "--json"],
    { env: upgradeEnvironment(folder) },
  );
  const made = JSON.parse(stdout) as Record<"organization_id" | "api_key" | "beacon_key" | "service_id", string>;
  const answer = await fetch(`${service.base}/api/v1/heartbeat-monitors`, {
    method: "POST",
    headers: { "X-API-Key": made.api_key, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Upgraded", slug: MONITOR, interval_seconds: 3_600 }),
  });
  const monitor = (await answer.json()) as { id?: string; error?: string };
  if (!monitor.id) throw new Error(`The monitor was not made: ${monitor.error}`);
  return {
    organizationId: made.organization_id,
    serviceId: made.service_id,
    apiKey: made.api_key,
    beaconKey: made.beacon_key,
    monitorId: monitor.id,
  };
}

async function sendRetried(service: ServiceProcess, beaconKey: string): Promise<LoadedVersion["retries"]> {
  const message = "sent again after the upgrade";
  const bodies = Array.from({ length: RETRIED_BODIES }, () => beaconBody(beaconKey, message, EVENTS_OF_BODY));
  await sendBeacons(service.edge, bodies);
  return { message, events: RETRIED_BODIES * EVENTS_OF_BODY, bodies };
}

/** Sends these beacons; throws when one is not taken in. */
export async function sendBeacons(edge: string, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) {
    const { status } = await fetch(`${edge}/api/beacon`, { method: "POST", body });
    if (status !== 202) throw new Error(`A beacon was answered ${status}.`);
  }
}
