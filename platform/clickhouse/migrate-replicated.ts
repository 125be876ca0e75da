import { quotedName, tokens, type Token } from "./tokens.ts";

/**
 * A statement of our migrations as a cluster needs it: `ON CLUSTER` behind the name it makes or changes, engines in their
 * Replicated form, and the deduplication window of replicated tables in place of the other. Statements with rows (INSERT,
 * SELECT) stay as they are: every replica gets rows from the one that took them.
 *
 * The path in Keeper holds no uuid, so that a replica which is added later joins the tables of the others. One shard: a
 * repeated insert is recognised within its shard only.
 */
export function replicatedStatement(statement: string, cluster: string): string {
  const all = [...tokens(statement)];
  const words = all.map(({ kind, start, end }) => (kind === "word" ? statement.slice(start, end).toUpperCase() : ""));
  if (!["CREATE", "ALTER", "DROP"].includes(words[0] ?? "")) return statement;
  const edits = [onCluster(statement, all, words, cluster), ...windows(all, words), ...engines(statement, all, words)];
  return edits.toSorted((one, other) => other.at - one.at).reduce((text, { at, end, put }) => text.slice(0, at) + put + text.slice(end), statement);
}

interface Edit {
  at: number;
  end: number;
  put: string;
}

/** Behind `CREATE MATERIALIZED VIEW IF NOT EXISTS name`, `ALTER TABLE database.name` and the like. */
function onCluster(statement: string, all: Token[], words: string[], cluster: string): Edit {
  const BEFORE_NAME = new Set(["CREATE", "ALTER", "DROP", "OR", "REPLACE", "TABLE", "DATABASE", "MATERIALIZED", "VIEW", "IF", "NOT", "EXISTS"]);
  let name = words.findIndex((word) => !BEFORE_NAME.has(word));
  if (statement[all[name + 1]?.start ?? -1] === ".") name += 2;
  const { end } = all[name]!;
  return { at: end, end, put: ` ON CLUSTER ${quotedName(cluster)}` };
}

const WINDOW = "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800";

/** `non_replicated_deduplication_window = N` means nothing to a replicated table. */
function windows(all: Token[], words: string[]): Edit[] {
  return words.flatMap((word, at) => (word === "NON_REPLICATED_DEDUPLICATION_WINDOW" ? [{ at: all[at]!.start, end: all[at + 2]!.end, put: WINDOW }] : []));
}

/** `ENGINE = SummingMergeTree(a)` → `ENGINE = ReplicatedSummingMergeTree('/clickhouse/…', '{replica}', a)`. */
function engines(statement: string, all: Token[], words: string[]): Edit[] {
  const at = words.indexOf("ENGINE");
  const engine = all[at + 2];
  if (at < 0 || !engine || !words[at + 2]!.endsWith("MERGETREE") || words[at + 2]!.startsWith("REPLICATED")) return [];
  const name = `Replicated${statement.slice(engine.start, engine.end)}`;
  const place = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";
  const [open, next] = [all[at + 3], all[at + 4]];
  if (!open || statement[open.start] !== "(") return [{ at: engine.start, end: engine.end, put: `${name}(${place})` }];
  const empty = next !== undefined && statement[next.start] === ")";
  return [{ at: engine.start, end: open.end, put: `${name}(${place}${empty ? "" : ", "}` }];
}
