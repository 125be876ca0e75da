import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor } from "../domain/actor.ts";
import { openIncident } from "../domain/incidents/open.ts";
import { listIncidents } from "../domain/incidents/read.ts";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import { getService } from "../domain/services/read.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { prepareLogins } from "../platform/postgres/logins.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { openTenants } from "../platform/postgres/tenants.ts";
import { CreateIncident, IncidentListQuery } from "../schemas/api/incidents.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What row-level security and the binding of connections cost: the same calls on the pool that sees all organizations and on the
 * organizations' own connections, in turns. Time a call from its begin to its end, ten at a time, and this process' CPU.
 *
 *   npx tsx bench/tenancy.ts [--rounds 9] [--calls 400] [--organizations 1]
 *
 * With more organizations than connections nearly every call binds its connection anew.
 */
const ROUNDS = Number(option("rounds", "9"));
const CALLS = Number(option("calls", "400"));
const ORGANIZATIONS = Number(option("organizations", "1"));
const AT_ONCE = 10;
const CONNECTIONS = 10;

const log = makeLog("silent");
const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
const server = await startEmbeddedPostgres({ folder, log });
try {
  await migrate(server.url, log);
  const everyone = openDatabase(server.url, CONNECTIONS, log);
  const tenants = openTenants(await prepareLogins({ url: server.url, log }), CONNECTIONS, log);
  const organizations: CreatedOrganization[] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await createOrganization(everyone, { name: `Organization ${n}`, plan: "team" }));
  const open = (database: Database, { organizationId, serviceId }: CreatedOrganization) =>
    openIncident(database, systemActor(organizationId, "bench"), { ...CreateIncident.parse({ title: "Measured", message: "We are looking into it.", services: [serviceId] }), at: new Date() });
  for (const organization of organizations) for (let n = 0; n < Math.ceil(60 / ORGANIZATIONS); n++) await open(everyone, organization);

  type Work = (database: Database, organization: CreatedOrganization) => Promise<unknown>;
  const works: Record<string, Work> = {
    "one service": (database, { organizationId, serviceId }) => getService(database, organizationId, serviceId),
    "50 incidents, not kept": (database, { organizationId }) => listIncidents(database, organizationId, IncidentListQuery.parse({})),
    "open an incident": open,
  };
  const rows: (string | number)[][] = [["work", "all organizations' pool, µs", "own connections, µs", "more", "CPU here, µs", "CPU here, own"]];
  for (const [name, work] of Object.entries(works)) {
    const of: Record<"plain" | "own", { wall: number[]; cpu: number[] }> = { plain: { wall: [], cpu: [] }, own: { wall: [], cpu: [] } };
    for (let round = -1; round < ROUNDS; round++) {
      for (const way of ["plain", "own"] as const) {
        const [begun, cpu] = [performance.now(), ownCpu()];
        let next = 0;
        await Promise.all(
          Array.from({ length: AT_ONCE }, async () => {
            while (next < CALLS) {
              const organization = organizations[next++ % ORGANIZATIONS]!;
              await work(way === "plain" ? everyone : tenants.of(organization.organizationId), organization);
            }
          }),
        );
        // The first round warms up.
        if (round < 0) continue;
        of[way].wall.push(((performance.now() - begun) * 1000) / CALLS);
        of[way].cpu.push((ownCpu() - cpu) / CALLS);
      }
    }
    const [plain, own] = [median(of.plain.wall), median(of.own.wall)];
    const more = median(of.own.wall.map((each, round) => each / of.plain.wall[round]!));
    rows.push([name, plain.toFixed(0), own.toFixed(0), `${((more - 1) * 100).toFixed(0)} %`, median(of.plain.cpu).toFixed(0), median(of.own.cpu).toFixed(0)]);
  }
  console.log(`${machine()}; ${ORGANIZATIONS} organizations\n\n${table(rows)}`);
  await Promise.all([everyone.$client.end(), tenants.close()]);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
