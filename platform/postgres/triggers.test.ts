import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../../testing/postgres.ts";

describe("x", () => {
  let db: Awaited<ReturnType<typeof freshDatabase>>;
  beforeAll(async () => { const t = performance.now(); db = await freshDatabase(); console.log("fresh ms", performance.now() - t); });
  afterAll(() => db.drop());
  test("y", async () => { expect((await db.database.$client.query("select count(*)::int n from organizations")).rows[0].n).toBe(0); });
});
