import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { freshDatabase } from "../../testing/postgres.ts";
import { makeLog } from "../log.ts";
import { listenTo } from "./listen.ts";

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

const notify = (channel: string) => fresh.database.execute(`notify ${channel}`);
const listeners = async () => (await fresh.database.$client.query("select pid from pg_stat_activity where application_name = 'pharos listen' and datname = current_database() and query like 'listen%'")).rowCount;

describe("listening", () => {
  it("hears what is announced, and looks once when it is connected", async () => {
    let heard = 0;
    const listening = listenTo({ connectionString: fresh.url, channel: "some_channel", onNotify: () => heard++, log: makeLog("silent") });
    await expect.poll(() => heard).toBe(1);
    await notify("some_channel");
    await expect.poll(() => heard).toBe(2);
    await notify("other_channel");
    await notify("some_channel");
    await expect.poll(() => heard).toBe(3);
    await listening.stop();
    // The server notices in its own time.
    await expect.poll(listeners).toBe(0);
  });

  it("connects again when it is cut, and looks again since it may have missed something", async () => {
    let heard = 0;
    const listening = listenTo({ connectionString: fresh.url, channel: "some_channel", onNotify: () => heard++, log: makeLog("silent") });
    await expect.poll(() => heard).toBe(1);
    await fresh.database.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pharos listen' and datname = current_database()");
    await expect.poll(() => heard).toBe(2);
    await notify("some_channel");
    await expect.poll(() => heard).toBe(3);
    await listening.stop();
  });

  it("stops at any moment of its beginning", async () => {
    for (let wait = 0; wait < 20; wait++) {
      const listening = listenTo({ connectionString: fresh.url, channel: "some_channel", onNotify: () => undefined, log: makeLog("silent") });
      await new Promise((resolve) => setTimeout(resolve, wait / 2));
      await listening.stop();
    }
  });

  it("keeps trying while Postgres lets nobody in, and stops at once when told to", async () => {
    const name = (await fresh.database.$client.query<{ name: string }>("select current_database() as name")).rows[0]!.name;
    const admin = new Client({ connectionString: inject("postgresUrl") });
    await admin.connect();
    await admin.query(`alter database ${name} allow_connections false`);
    let heard = 0;
    const listening = listenTo({ connectionString: fresh.url, channel: "some_channel", onNotify: () => heard++, log: makeLog("silent") });
    const hopeless = listenTo({ connectionString: "postgres://127.0.0.1:1/none", channel: "some_channel", onNotify: () => heard++, log: makeLog("silent"), pausesMs: [600_000] });
    await admin.query("select pg_sleep(0.3)");
    expect(heard).toBe(0);
    await admin.query(`alter database ${name} allow_connections true`);
    await expect.poll(() => heard).toBe(1);
    // Waiting for its pause to end would take longer than a test may.
    await Promise.all([listening.stop(), hopeless.stop()]);
    await admin.end();
  });
});
