import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildService, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../service-process.ts";
import { ACCOUNT_WAYS } from "./account-ways.ts";
import { startBeside, type Beside, type Felt } from "./beside.ts";
import { BODY_WAYS } from "./body-ways.ts";
import { CONNECTION_WAYS } from "./connection-ways.ts";
import { hostileTenant, makeTenant, type HostileTenant } from "./hostile-tenant.ts";
import { INGEST_WAYS } from "./ingest-ways.ts";
import { PAGE_WAYS } from "./page-ways.ts";
import { TEMPLATE_WAYS } from "./template-ways.ts";
import type { HostileWay } from "./way.ts";

const WAYS = [...BODY_WAYS, ...TEMPLATE_WAYS, ...ACCOUNT_WAYS, ...PAGE_WAYS, ...INGEST_WAYS, ...CONNECTION_WAYS];
/** HOSTILE_TABLE names a file: the table of what came out is written there, and the speeds of the tenant beside are judged. */
const TABLE = process.env.HOSTILE_TABLE;
const QUIET_MS = TABLE ? 10_000 : 2_000;
/** Of the whole process; its JavaScript heap has 512 MB. */
const MOST_RSS_MB = 1_100;
/** Beside a hostile tenant a machine that runs tests answers late; what hangs is later. */
const LATE_MS = 10_000;

let folder: string;
let service: ServiceProcess;
let tenants: Record<HostileWay["plan"], HostileTenant>;
let beside: Beside;
let quiet: Felt;
const rows: string[] = [];

beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-hostile-"));
  const environment = serviceEnvironment(folder, { NODE_OPTIONS: "--max-old-space-size=512", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", METRICS_WAIT_MS: "2000", TRUSTED_PROXIES: "127.0.0.1,::1", SCHEDULER_TICK_MS: "100" });
  service = await startServiceProcess(environment);
  tenants = { free: hostileTenant(service, await makeTenant(environment, "Hostile", "free"), "203.0.113.7"), pro: hostileTenant(service, await makeTenant(environment, "Hostile too", "pro"), "203.0.113.8") };
  const other = await makeTenant(environment, "Beside", "team");
  const { body } = await hostileTenant(service, other, "198.51.100.5").call("GET", `/status-pages/${other.page_id}`);
  beside = await startBeside(service, other, (JSON.parse(body) as { page: { slug: string } }).page.slug);
  // A hostile tenant has a machine of its own: here its programs shall not take the service's and the other tenant's cores.
  if (TABLE) setPriority(constants.priority.PRIORITY_LOW);
  const watched = beside.watch();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  quiet = await watched.stop();
});
afterAll(async () => {
  beside.end();
  service.child.kill("SIGTERM");
  await service.exited;
  if (TABLE) await writeFile(TABLE, ["| kind | way | answer | p99 of the tenant beside, quiet and meanwhile | resident memory |", "| --- | --- | --- | --- | --- |", ...rows, ""].join("\n"));
  await rm(folder, { recursive: true, force: true });
});

const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid!}/status`, "utf8"))![1]) / 1_024;

it("there are more than sixty ways", () => expect(WAYS.length).toBeGreaterThan(60));

describe.each([...new Set(WAYS.map(({ kind }) => kind))])("a hostile tenant, with %s", (kind) => {
  it.each(WAYS.filter((way) => way.kind === kind))("$name", async ({ name, plan, holds, run }) => {
    const watched = beside.watch();
    const answers = [await run(tenants[plan])].flat();
    const felt = await watched.stop();
    for (const { status, body } of answers) expect(`${status} ${body}`).toMatch(holds);
    expect(felt.failed).toEqual([]);
    expect(felt.p99).toBeLessThan(TABLE ? Math.max(2 * quiet.p99, 250) : LATE_MS);
    // It is the same process as at the beginning: nothing ended it.
    expect(service.child.exitCode).toBeNull();
    expect(rssMb()).toBeLessThan(MOST_RSS_MB);
    const [{ status, body }] = answers as [{ status: number; body: string }];
    const said = /"error":"([^"]+)"/.exec(body)?.[1] ?? "";
    rows.push(`| ${kind} | ${name} | ${status === 0 ? "cut off" : status} ${said.replaceAll("|", "\\|").slice(0, 120)} | ${quiet.p99.toFixed(0)}, ${felt.p99.toFixed(0)} ms | ${rssMb().toFixed(0)} MB |`);
  });
});
