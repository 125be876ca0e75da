import { expect, test } from "vitest";
import { organizations } from "../schemas/tables/all.ts";
import { startTestHouse } from "../testing/house.ts";

test.each([
  { DEMO: undefined, demos: 1 },
  { DEMO: "false", demos: 0 },
])("the first start with DEMO=$DEMO makes $demos demo organizations", async ({ DEMO, demos }) => {
  const house = await startTestHouse(DEMO === undefined ? {} : { DEMO });
  const rows = await house.pharos.house.database.select({ isDemo: organizations.isDemo }).from(organizations);
  await house.stop();
  expect(rows.filter(({ isDemo }) => isDemo)).toHaveLength(demos);
  expect(house.pharos.demo === null).toBe(demos === 0);
});
