import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { freshDatabase } from "../testing/postgres.ts";
import { makeLog } from "./log.ts";

it("a query that Postgres refused is logged without its parameters and rows, which may be secrets", async () => {
  const { database, drop } = await freshDatabase({ migrated: false });
  const lines: string[] = [];
  try {
    const log = makeLog("error", { write: (line) => void lines.push(line) });
    for (const query of [sql`select ${"hunter2-secret\0"}::text`, sql`select ${'{"token":"hunter2-secret" x'}::jsonb`, sql`select ${"hunter2-secret"}::uuid`]) {
      const error: unknown = await database.execute(query).catch((failed: unknown) => failed);
      log.error({ err: error, run_id: "r" }, "could not");
      log.error({ err: new Error("around it", { cause: error }) }, "could not");
    }
    expect(lines).toHaveLength(6);
    expect(lines[0]).toContain("22021");
    expect(lines.join("")).not.toContain("hunter2");
  } finally {
    await drop();
  }
});
