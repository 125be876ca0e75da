import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./testing/slowest-first.ts";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**", "data/**", ".cache/**"],
    // One Postgres and one ClickHouse for the run; each test file has databases of its own in them. The browser SDK is bundled.
    globalSetup: ["testing/postgres.setup.ts", "testing/clickhouse.setup.ts", "testing/sdk.setup.ts"],
    pool: "forks",
    // On two cores a third of their time went to waiting, mostly for Kafka and for what is to stay away.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    // What a test waits for comes at once or, on a slow and busy machine, late: these limits only end what hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
