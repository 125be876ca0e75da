import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { CreateMaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import { events, maintenanceWindows, services } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { createOrganization } from "../organizations/create.ts";
import { createMaintenanceWindow } from "./create.ts";
import { makeDueWindows } from "./run-due.ts";

const T = Date.UTC(2026, 2, 23, 20);
const at = (minutes: number) => new Date(T + minutes * 60_000);

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

it("a window starts, ends and is announced once, however the clock is set meanwhile", async () => {
  const { organizationId, serviceId } = await createOrganization(database, { name: "Maintained", plan: "team" });
  const window = { title: "Upgrade", starts_at: at(90).toISOString(), ends_at: at(120).toISOString(), services: [serviceId], notify_before_minutes: 15 };
  await createMaintenanceWindow(database, systemActor(organizationId, "test"), CreateMaintenanceWindow.parse(window), at(0));
  const carryOut = makeDueWindows({ database, log: makeLog("silent") });
  const seen: [number, string, string][] = [];
  // Forward and back by an hour before it, while it runs and after it.
  for (const minute of [20, 80, 20, 91, 31, 92, 152, 92, 153]) {
    while (await carryOut(at(minute)));
    const [{ status }, service] = [(await database.select().from(maintenanceWindows))[0]!, (await database.select().from(services).where(eq(services.id, serviceId)))[0]!];
    seen.push([minute, status, service.status]);
  }
  expect(seen).toEqual([
    [20, "scheduled", "operational"],
    [80, "scheduled", "operational"],
    [20, "scheduled", "operational"],
    [91, "in_progress", "maintenance"],
    [31, "in_progress", "maintenance"],
    [92, "in_progress", "maintenance"],
    [152, "completed", "operational"],
    [92, "completed", "operational"],
    [153, "completed", "operational"],
  ]);
  const told = (await database.select().from(events).orderBy(asc(events.createdAt), asc(events.id))).map(({ type }) => type).filter((type) => type.startsWith("maintenance."));
  expect(told.toSorted()).toEqual(["maintenance.completed", "maintenance.scheduled", "maintenance.scheduled", "maintenance.started"]);
});
