import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase } from "../testing/postgres.ts";
import { claimPeriodic, PeriodicWorkLost } from "./claim-periodic.ts";
import type { Database } from "./postgres/database.ts";

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await freshDatabase());
});
afterAll(() => drop());

const now = () => new Date();
const claim = (name: string, at = now(), leaseMs = 60_000) => claimPeriodic(database, { name, everyMs: 3_600_000, leaseMs }, at);
const isDueIn = (name: string, ms: number) => database.execute(sql`update periodic_work set due_at = now() + ${ms}::float8 * interval '1 millisecond' where name = ${name}`);

it("is one process's at a time, until it is released, and then not due before its time", async () => {
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim("a")));
  const [mine, ...others] = claims.filter((each) => each !== null);
  expect(others).toEqual([]);
  await mine!.renew();
  expect(await claim("a")).toBeNull();
  await mine!.release(3_600_000);
  expect(await claim("a")).toBeNull();
  await isDueIn("a", -1);
  expect(await claim("a")).not.toBeNull();
  expect(await claim("b")).not.toBeNull();
});

it("is another's when the lease has ended, which the first one hears of", async () => {
  const mine = await claim("c");
  await isDueIn("c", -1);
  const theirs = await claim("c");
  await expect(mine!.renew()).rejects.toThrow(PeriodicWorkLost);
  await mine!.release(0);
  expect(await claim("c")).toBeNull();
  await theirs!.renew();
});

it("is due when its moment was written by a clock that has since been put back", async () => {
  await (await claim("d"))!.release(3_600_000);
  await isDueIn("d", 3 * 3_600_000);
  expect(await claim("d")).not.toBeNull();
});

it("takes the earlier of both clocks for the time", async () => {
  const ahead = new Date(Date.now() + 86_400_000);
  expect((await claim("e", ahead))!.now.getTime()).toBeLessThan(ahead.getTime() - 80_000_000);
  expect((await claim("f", new Date(1_000)))!.now).toEqual(new Date(1_000));
});
