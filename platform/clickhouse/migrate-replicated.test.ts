import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_ROOT } from "../root.ts";
import { replicatedStatement } from "./migrate-replicated.ts";
import { splitStatements } from "./tokens.ts";

const PLACE = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";
const WINDOW = "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800";

test.each([
  ["CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = MergeTree ORDER BY a", `CREATE TABLE IF NOT EXISTS t ON CLUSTER \`main\` (a UInt8) ENGINE = ReplicatedMergeTree(${PLACE}) ORDER BY a`],
  ["create table `my t` (a UInt8) engine = MergeTree() order by a", `create table \`my t\` ON CLUSTER \`main\` (a UInt8) engine = ReplicatedMergeTree(${PLACE}) order by a`],
  ["CREATE TABLE d.t (v UInt8) ENGINE = ReplacingMergeTree(v) ORDER BY v", `CREATE TABLE d.t ON CLUSTER \`main\` (v UInt8) ENGINE = ReplicatedReplacingMergeTree(${PLACE}, v) ORDER BY v`],
  [
    "CREATE TABLE t (a String DEFAULT 'ENGINE = MergeTree') ENGINE = AggregatingMergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1",
    `CREATE TABLE t ON CLUSTER \`main\` (a String DEFAULT 'ENGINE = MergeTree') ENGINE = ReplicatedAggregatingMergeTree(${PLACE}) ORDER BY a SETTINGS ${WINDOW}, fsync_after_insert = 1`,
  ],
  ["CREATE MATERIALIZED VIEW IF NOT EXISTS v TO t AS SELECT a FROM s", "CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER `main` TO t AS SELECT a FROM s"],
  ["CREATE DATABASE IF NOT EXISTS `pharos`", "CREATE DATABASE IF NOT EXISTS `pharos` ON CLUSTER `main`"],
  ["ALTER TABLE t ADD COLUMN IF NOT EXISTS b UInt8", "ALTER TABLE t ON CLUSTER `main` ADD COLUMN IF NOT EXISTS b UInt8"],
  ["DROP TABLE IF EXISTS d.t", "DROP TABLE IF EXISTS d.t ON CLUSTER `main`"],
  ["CREATE TABLE t (a UInt8) ENGINE = Memory", "CREATE TABLE t ON CLUSTER `main` (a UInt8) ENGINE = Memory"],
  ["INSERT INTO t SELECT 1", "INSERT INTO t SELECT 1"],
])("%s", (statement, expected) => expect(replicatedStatement(statement, "main")).toBe(expected));

test("a cluster's name cannot become SQL", () => {
  expect(replicatedStatement("DROP TABLE t", "a` (b) --")).toBe("DROP TABLE t ON CLUSTER `a\\` (b) --`");
});

test("of our own migrations no table stays on one replica", async () => {
  const folder = join(PROJECT_ROOT, "schemas", "clickhouse");
  for (const name of await readdir(folder)) {
    for (const statement of splitStatements(await readFile(join(folder, name), "utf8"))) {
      const text = replicatedStatement(statement, "main");
      // Rows go to the replicas by themselves.
      if (/^INSERT\s/i.test(statement)) continue;
      expect(text).toContain(" ON CLUSTER `main`");
      expect(text).not.toMatch(/ENGINE = (?!Replicated)/);
      expect(text).not.toContain("non_replicated");
    }
  }
});
