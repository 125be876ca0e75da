import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { quotedName, stringLiteral } from "../tokens.ts";
import { REFUSED } from "./refusal.ts";
import { namesIn, settingsText } from "./request-settings.ts";
import type { EngineResult, SessionPool } from "./session-pool.ts";
import type { InsertData } from "./statement.ts";

/** Rows that a statement may hold and still become one block. */
const ROWS_OF_A_BLOCK = "1048576";

/**
 * One statement gives one block, whatever the number of processors: only then do the same rows give the same
 * block again, which is what a deduplication token stands for.
 */
const ONE_BLOCK = new Map([
  ["max_threads", "1"],
  ["max_insert_threads", "1"],
  ["max_block_size", ROWS_OF_A_BLOCK],
  ["max_insert_block_size", ROWS_OF_A_BLOCK],
  ["min_insert_block_size_rows", ROWS_OF_A_BLOCK],
  ["min_insert_block_size_bytes", "0"],
  ["input_format_parallel_parsing", "0"],
  // The rows come through a SELECT, which deduplicates only when it is told that they repeat.
  ["deduplicate_insert_select", "enable_even_for_bad_queries"],
  ["async_insert", "0"],
  ["date_time_input_format", "best_effort"],
]);

interface Column {
  name: string;
  type: string;
  default_type: string;
  default_expression: string;
}

export interface FileInserts {
  insert(statement: InsertData, data: Buffer, context: { database: string; settings: ReadonlyMap<string, string> }): Promise<EngineResult>;
  /** A table may have changed. */
  forgetTables(): void;
}

/**
 * Inserts a request's rows through a file, because the engine takes bodies only as UTF-8 text and cuts them by its own
 * measure. Files left by a killed process are removed at the start. The process must stand in `folder`: the files are
 * named without their path, in which the engine would read `*`, `?` and braces as patterns.
 */
export async function openFileInserts({ pool, folder }: { pool: SessionPool; folder: string }): Promise<FileInserts> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) await rm(join(folder, name), { force: true });
  const known = new Map<string, Column[]>();
  // Used again: ext4 makes a file the slower, the more files were deleted in the minutes before, and the engine makes forty for an insert.
  const free: string[] = [];

  async function columnsOf(table: string, database: string): Promise<Column[]> {
    const key = `${database}\0${table}`;
    let columns = known.get(key);
    if (!columns) {
      const { bytes } = await pool.run(`DESCRIBE TABLE ${table}`, { database, format: "JSON" });
      columns = (JSON.parse(Buffer.from(bytes).toString("utf8")) as { data: Column[] }).data;
      known.set(key, columns);
    }
    return columns;
  }

  return {
    async insert(statement, data, { database, settings }) {
      const columns = statement.through ? [] : chosen(await columnsOf(statement.table, database), statement);
      const file = free.pop() ?? `${randomUUID()}.rows`;
      const path = join(folder, file);
      try {
        await writeFile(path, data, { mode: 0o600 });
        const result = await pool.run(insertFrom(file, statement, columns, settings), { database, format: "Null" });
        // The rows stand: that the file cannot be emptied must not look like an insert that failed.
        await truncate(path).then(() => free.push(file), () => rm(path, { force: true }));
        return result;
      } catch (error) {
        // A file whose insert failed is not used again: the disk may be full, or the file may not be there.
        await rm(path, { force: true });
        throw error;
      }
    },
    forgetTables: () => known.clear(),
  };
}

function chosen(columns: Column[], { columns: wanted, table }: InsertData): Column[] {
  if ("except" in wanted) return columns.filter(({ name, default_type }) => !["ALIAS", "MATERIALIZED"].includes(default_type) && !wanted.except.includes(name));
  return wanted.named.map((name) => {
    const column = columns.find((each) => each.name === name);
    if (!column) throw REFUSED.noSuchColumn(name, table);
    return column;
  });
}

function insertFrom(file: string, statement: InsertData, columns: Column[], requested: ReadonlyMap<string, string>): string {
  const own = namesIn(statement.settings);
  const settings = new Map([...ONE_BLOCK, ...requested].filter(([name]) => !own.has(name)));
  const clause = [statement.settings, settingsText(settings)].filter(Boolean).join(", ");
  if (statement.through && "named" in statement.columns) {
    const { before, structure, after } = statement.through;
    const source = `file(${stringLiteral(file)}, ${stringLiteral(statement.format)}, ${structure})`;
    return `INSERT INTO ${statement.table} (${statement.columns.named.map(quotedName).join(", ")}) SETTINGS ${clause} ${before}${source}${after}`;
  }
  const names = columns.map(({ name }) => quotedName(name)).join(", ");
  const structure = columns.map(({ name, type, default_type, default_expression }) => `${quotedName(name)} ${type}${default_type === "DEFAULT" ? ` DEFAULT ${default_expression}` : ""}`).join(", ");
  const source = `file(${[file, statement.format, structure].map(stringLiteral).join(", ")})`;
  return `INSERT INTO ${statement.table} (${names}) SETTINGS ${clause} SELECT ${names} FROM ${source}`;
}
