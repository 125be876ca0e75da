import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**", "data/**"],
    // One Postgres and one ClickHouse for the run; each test file has databases of its own in them.
    globalSetup: ["testing/postgres.setup.ts", "testing/clickhouse.setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
