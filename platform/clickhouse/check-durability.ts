import { DURABLE_TABLES } from "../../schemas/durable-tables.ts";
import { StartFailure } from "../start-failure.ts";
import type { ClickHouse } from "./port.ts";

interface TableSettings {
  name: string;
  engine: string;
  /** Of this table, or the server's own where the table says nothing. */
  settings: ReadonlyMap<string, number>;
}

/** A setting that promises less than the table needs. */
interface WeakSetting {
  table: string;
  setting: string;
  value: number;
  promised: number;
}

/** What a confirmed insert rests on when the power fails, and whether a value keeps it. */
const PROMISED: readonly { setting: string; promised: number; isKept(settings: ReadonlyMap<string, number>): boolean }[] = [
  { setting: "fsync_after_insert", promised: 1, isKept: (settings) => settings.get("fsync_after_insert") === 1 },
  { setting: "fsync_part_directory", promised: 1, isKept: (settings) => settings.get("fsync_part_directory") === 1 },
  {
    setting: "min_rows_to_fsync_after_merge",
    promised: 1,
    // Each is a size from which on a merged part is synced: 1 means every part, 0 none.
    isKept: (settings) =>
      settings.get("min_rows_to_fsync_after_merge") === 1 || settings.get("min_compressed_bytes_to_fsync_after_merge") === 1,
  },
  {
    setting: "old_parts_lifetime",
    promised: 480,
    isKept: (settings) => (settings.get("old_parts_lifetime") ?? 0) >= 480,
  },
];

/** Settings of tables without replicas that promise less than they need. Pure. */
function findWeakSettings(tables: readonly TableSettings[]): WeakSetting[] {
  return tables.flatMap(({ name, settings }) =>
    PROMISED.filter(({ isKept }) => !isKept(settings)).map(({ setting, promised }) => ({
      table: name,
      setting,
      value: settings.get(setting) ?? 0,
      promised,
    })),
  );
}

/**
 * Throws StartFailure when a table may lose confirmed rows with the power. A replicated table needs another replica's
 * copy of each insert instead (`insert_quorum`). Tables of other engines, such as a hosted ClickHouse's own, are not judged.
 */
export async function checkClickHouseDurability(clickhouse: ClickHouse): Promise<void> {
  const tables = await readTables(clickhouse);
  const weak = findWeakSettings(tables.filter(({ engine }) => !engine.startsWith("Replicated")));
  const [first] = weak;
  if (first) {
    const { table, setting, value, promised } = first;
    throw new StartFailure(
      `ClickHouse may lose confirmed rows of ${table} when the power fails: ${setting} is ${value} there and must be ${promised}${promised > 1 ? " or more" : ""}.`,
      { fix: `Run ${repairs(weak).join(" ")}` },
    );
  }
  const replicated = tables.find(({ engine }) => engine.startsWith("Replicated"));
  if (replicated) await checkQuorum(clickhouse, replicated.name);
}

/** One statement for each table. */
function repairs(weak: readonly WeakSetting[]): string[] {
  const tables = [...new Set(weak.map(({ table }) => table))];
  return tables.map((table) => {
    const settings = weak.filter((each) => each.table === table).map(({ setting, promised }) => `${setting} = ${promised}`);
    return `ALTER TABLE ${table} MODIFY SETTING ${settings.join(", ")};`;
  });
}

async function checkQuorum(clickhouse: ClickHouse, table: string): Promise<void> {
  const [row] = await clickhouse.query<{ value: string }>("SELECT value FROM system.settings WHERE name = 'insert_quorum'");
  const value = row?.value ?? "0";
  if (value === "auto" || Number(value) >= 2) return;
  throw new StartFailure(
    `ClickHouse may lose confirmed rows of the replicated table ${table} with one machine: insert_quorum is ${value} for this user and must be 2 or more.`,
    { fix: "Run CREATE SETTINGS PROFILE pharos SETTINGS insert_quorum = 2, insert_quorum_timeout = 60000 TO pharos; with the name of Pharos' user." },
  );
}

async function readTables(clickhouse: ClickHouse): Promise<TableSettings[]> {
  const tables = await clickhouse.query<{ name: string; engine: string; engine_full: string }>(
    `SELECT name, engine, engine_full FROM system.tables
     WHERE database = currentDatabase() AND name IN ({names:Array(String)}) AND match(engine, '^(Replicated|Replacing|Aggregating)*MergeTree$')
     ORDER BY name`,
    { names: [...DURABLE_TABLES] },
  );
  const names = [...PROMISED.map(({ setting }) => setting), "min_compressed_bytes_to_fsync_after_merge"];
  const defaults = await clickhouse.query<{ name: string; value: string }>(
    "SELECT name, value FROM system.merge_tree_settings WHERE name IN ({names:Array(String)})",
    { names },
  );
  const server = defaults.map(({ name, value }) => [name, Number(value)] as const);
  return tables.map(({ name, engine, engine_full: text }) => ({
    name,
    engine,
    settings: new Map([...server, ...settingsIn(text)].filter(([setting]) => names.includes(setting))),
  }));
}

/** Whole numbers of the SETTINGS clause with which an engine's description ends. */
function settingsIn(engineText: string): [string, number][] {
  const clause = engineText.slice(engineText.lastIndexOf(" SETTINGS ") + 1);
  return [...clause.matchAll(/(\w+) = '?(\d+)'?/g)].map(([, name, value]) => [name!, Number(value)]);
}
