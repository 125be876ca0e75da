import { asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { CreateMaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import { events, maintenanceWindows, organizations, services } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { createOrganization } from "../organizations/create.ts";
import { updateMaintenanceWindow } from "./change.ts";
import { createMaintenanceWindow } from "./create.ts";
import { deleteMaintenanceWindow } from "./delete.ts";
import { makeDueWindows } from "./run-due.ts";

const T = Date.UTC(2026, 2, 23, 20);
const at = (minutes: number) => new Date(T + minutes * 60_000);

let database: Database;
let drop: () => Promise<void>;
let organizationId: string;
let serviceId: string;
beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());
beforeEach(async () => {
  await database.delete(organizations);
  ({ organizationId, serviceId } = await createOrganization(database, { name: "Maintained", plan: "team" }));
});

const actor = () => systemActor(organizationId, "test");
const plan = (from: number, to: number, more: object = {}) =>
  createMaintenanceWindow(database, actor(), CreateMaintenanceWindow.parse({ title: "Upgrade", starts_at: at(from).toISOString(), ends_at: at(to).toISOString(), services: [serviceId], ...more }), at(0));
const statusOf = async () => (await database.select().from(services).where(eq(services.id, serviceId)))[0]!.status;
const windows = async () => (await database.select().from(maintenanceWindows).orderBy(asc(maintenanceWindows.startsAt))).map(({ status, startsAt }) => [status, (startsAt.getTime() - T) / 60_000]);
const told = async () => (await database.select().from(events).where(eq(events.organizationId, organizationId)).orderBy(asc(events.createdAt), asc(events.id))).filter(({ type }) => type.startsWith("maintenance.")).map(({ type, data }) => [type, data.message]);

/** As the schedulers of several processes do, until nothing is due. */
async function run(minute: number): Promise<void> {
  const untilDone = async () => {
    const carryOut = makeDueWindows({ database, log: makeLog("error") });
    while (await carryOut(at(minute)));
  };
  await Promise.all([untilDone(), untilDone(), untilDone()]);
}

it("starts and ends once each, to the moment, with one reminder, whoever else tries", async () => {
  await plan(60, 90, { notify_before_minutes: 15 });
  for (const [minute, expected] of [[44, "operational"], [45, "operational"], [59.99, "operational"], [60, "maintenance"], [89.99, "maintenance"], [90, "operational"], [500, "operational"]] as const) {
    await run(minute);
    expect([minute, await statusOf()]).toEqual([minute, expected]);
  }
  expect(await told()).toEqual([["maintenance.scheduled", ""], ["maintenance.scheduled", "Starts in 15 minutes."], ["maintenance.started", ""], ["maintenance.completed", ""]]);
});

it("keeps a service in maintenance until the last of overlapping windows ends, and heeds a window that is moved while it runs", async () => {
  const first = await plan(10, 30);
  await plan(20, 60);
  await run(25);
  await updateMaintenanceWindow(database, actor(), first.id, { ends_at: at(40).toISOString() }, at(26));
  await run(30);
  expect(await windows()).toEqual([["in_progress", 10], ["in_progress", 20]]);
  await run(40);
  expect([await statusOf(), await windows()]).toEqual(["maintenance", [["completed", 10], ["in_progress", 20]]]);
  await run(60);
  expect(await statusOf()).toBe("operational");
});

it("goes on by its rule at the same time of day when the clocks are moved, and not when it is cancelled", async () => {
  await database.update(organizations).set({ timezone: "Europe/Berlin" });
  const [hours, week] = [60, 7 * 24 * 60];
  await plan(0, hours, { rrule: "FREQ=WEEKLY;COUNT=3" });
  await run(0);
  await run(hours);
  // Summer time begins on the 29th of March.
  expect(await windows()).toEqual([["completed", 0], ["scheduled", week - 60]]);
  await run(week - 60);
  await run(week);
  expect(await windows()).toEqual([["completed", 0], ["completed", week - 60], ["scheduled", 2 * week - 60]]);
  const [, , last] = await database.select().from(maintenanceWindows).orderBy(asc(maintenanceWindows.startsAt));
  await updateMaintenanceWindow(database, actor(), last!.id, { status: "cancelled" }, at(week));
  await run(9 * week);
  expect((await windows()).at(-1)).toEqual(["cancelled", 2 * week - 60]);
  expect(await statusOf()).toBe("operational");
});

it("tells of a window that was missed whole, and leaves alone what is to be done by hand or was deleted", async () => {
  await plan(10, 20);
  await plan(11, 21, { auto_start: false, services: [] });
  const gone = await plan(12, 22);
  await deleteMaintenanceWindow(database, actor(), gone.id, at(1));
  await run(500);
  expect(await windows()).toEqual([["completed", 10], ["scheduled", 11]]);
  expect((await told()).map(([type]) => type).slice(3)).toEqual(["maintenance.started", "maintenance.completed"]);
});

it("goes on with the others when one fails, and tries that one less and less often", async () => {
  const failing = await plan(10, 20, { rrule: "FREQ=DAILY", services: [] });
  await plan(11, 21, { services: [] });
  await database.update(maintenanceWindows).set({ rrule: "FREQ=NEVER" }).where(eq(maintenanceWindows.id, failing.id));
  const lines: { id: string; restMs: number }[] = [];
  const carryOut = makeDueWindows({ database, log: makeLog("error", { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }) });
  const runAt = async (minute: number) => {
    while (await carryOut(at(minute)));
  };
  for (const minute of [30, 30.02, 30.15]) await runAt(minute);
  expect(await windows()).toEqual([["in_progress", 10], ["completed", 11]]);
  expect(lines).toMatchObject([{ id: failing.id, restMs: 10_000 }]);
  for (const minute of [30.2, 30.5, 30.6, 31.2]) await runAt(minute);
  expect(lines.map(({ restMs }) => restMs / 1_000)).toEqual([10, 20, 40]);
  await database.update(maintenanceWindows).set({ rrule: "FREQ=DAILY" }).where(eq(maintenanceWindows.id, failing.id));
  await runAt(37);
  expect(await windows()).toEqual([["completed", 10], ["completed", 11], ["scheduled", 10 + 24 * 60]]);
});

it("tries one that failed again at once when the clock was set back", async () => {
  const failing = await plan(10, 20, { rrule: "FREQ=DAILY", services: [] });
  await database.update(maintenanceWindows).set({ rrule: "FREQ=NEVER" }).where(eq(maintenanceWindows.id, failing.id));
  const carryOut = makeDueWindows({ database, log: makeLog("silent") });
  while (await carryOut(at(500)));
  await database.update(maintenanceWindows).set({ rrule: null }).where(eq(maintenanceWindows.id, failing.id));
  while (await carryOut(at(30)));
  expect(await windows()).toEqual([["completed", 10]]);
});
