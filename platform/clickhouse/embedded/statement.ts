import { tokens, unquotedName, type Token } from "../tokens.ts";
import { REFUSED } from "./refusal.ts";

/** What the server needs to know of a statement before the engine gets it. */
export type Statement = InsertData | Other;

/** `INSERT INTO … [SELECT … FROM input('…') …] FORMAT X <data>` or `… VALUES <data>`: the rows are in the request. */
export interface InsertData {
  kind: "insert data";
  /** As written, perhaps with its database. */
  table: string;
  columns: Columns;
  /** The text between SETTINGS and FORMAT, empty without. */
  settings: string;
  format: string;
  /** Where the rows begin, in bytes of the request's text. */
  dataStart: number;
  /** The SELECT that the rows go through, without its `input(…)`; null without one. */
  through: { before: string; structure: string; after: string } | null;
}

/** Columns of an INSERT as named, or all but some. */
type Columns = { named: string[] } | { except: string[] };

export interface Other {
  kind: "read" | "insert select" | "write" | "session" | "kill";
  sql: string;
  /** The word behind FORMAT. */
  format: string | null;
  /** Where request settings go, and whether a SETTINGS clause stands there already. */
  settingsAt: { position: number; extend: boolean } | null;
}

const READS = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK", "FROM"]);
/** Statements that neither return rows nor know a SETTINGS clause. */
const BARE = new Set(["SYSTEM", "GRANT", "REVOKE", "BACKUP", "RESTORE", "BEGIN", "COMMIT", "ROLLBACK"]);

/** Reads as much of a request's text as needed. Throws a `Refusal` for an empty text or several statements. */
export function readStatement(bytes: Buffer): Statement {
  // One character a byte: offsets stay those of the bytes, and no data is decoded.
  const text = bytes.toString("latin1");
  const reader = makeReader(text);
  const first = reader.next();
  if (!first) throw REFUSED.syntax("the query is empty");
  const verb = reader.wordOf(first);
  if (verb === "INSERT") {
    const data = readInsert(reader, text);
    if (data) return data;
  }
  reader.rest();
  const sql = bytes.toString("utf8", first.start, reader.end());
  return readOther(sql, verb);
}

interface Reader {
  next(): Token | null;
  peek(): Token | null;
  wordOf(token: Token | null): string;
  /** Takes the next token when it is this word or symbol. */
  take(word: string): boolean;
  /** Reads to the end of the one statement. */
  rest(): void;
  end(): number;
}

function makeReader(text: string): Reader {
  const source = tokens(text);
  let ahead: Token | null | undefined;
  let end = 0;
  const pull = (): Token | null => source.next().value ?? null;
  const peek = (): Token | null => (ahead === undefined ? (ahead = pull()) : ahead);
  const next = (): Token | null => {
    const token = peek();
    ahead = undefined;
    if (token) end = token.end;
    return token;
  };
  const wordOf = (token: Token | null): string => (token && (token.kind === "word" || token.kind === "symbol") ? text.slice(token.start, token.end).toUpperCase() : "");
  return {
    next,
    peek,
    wordOf,
    take(word) {
      if (wordOf(peek()) !== word) return false;
      next();
      return true;
    },
    rest() {
      for (let token = peek(); token; token = peek()) {
        if (wordOf(token) === ";") {
          ahead = undefined;
          while (wordOf(peek()) === ";") ahead = undefined;
          if (peek()) throw REFUSED.syntax("Multi-statements are not allowed");
          return;
        }
        next();
      }
    },
    end: () => end,
  };
}

/** The head of an INSERT with data, or null for INSERT … SELECT and INSERT INTO FUNCTION. */
function readInsert(reader: Reader, text: string): InsertData | null {
  reader.take("INTO");
  reader.take("TABLE");
  if (reader.wordOf(reader.peek()) === "FUNCTION") return null;
  const table = readTable(reader, text);
  const columns = reader.wordOf(reader.peek()) === "(" ? readColumns(reader, text) : { except: [] };
  if (!columns) return null;
  let settings = "";
  if (reader.take("SETTINGS")) {
    const start = reader.peek()?.start ?? 0;
    while (reader.peek() && !["FORMAT", "VALUES", "SELECT", "WITH", "("].includes(reader.wordOf(reader.peek()))) reader.next();
    settings = text.slice(start, reader.end());
  }
  if (reader.take("VALUES")) return { kind: "insert data", table, columns, settings, format: "Values", dataStart: reader.end(), through: null };
  const selects = reader.wordOf(reader.peek()) === "SELECT";
  const through = selects ? readThrough(reader, text) : null;
  // Rows that come from elsewhere: what follows FORMAT is the answer's form.
  if (selects && through === null) return null;
  if (!reader.take("FORMAT")) return null;
  const format = reader.next();
  if (format?.kind !== "word") throw REFUSED.syntax("a format's name must follow FORMAT");
  // ClickHouse skips blanks and one line end behind the format's name; what follows is data to the byte.
  const gap = /[ \t;]*(?:\r?\n)?/y;
  gap.lastIndex = format.end;
  gap.test(text);
  return { kind: "insert data", table, columns, settings, format: text.slice(format.start, format.end), dataStart: gap.lastIndex, through };
}

/** `SELECT … FROM input('structure') …` up to FORMAT; null when it reads from something else. */
function readThrough(reader: Reader, text: string): InsertData["through"] {
  const start = reader.peek()!.start;
  let input: { start: number; structure: string; end: number } | null = null;
  for (let token = reader.peek(); token && reader.wordOf(token) !== "FORMAT"; token = reader.peek()) {
    reader.next();
    if (input !== null || reader.wordOf(token) !== "INPUT" || !reader.take("(")) continue;
    const structure = reader.next();
    if (structure?.kind !== "string" || !reader.take(")")) return null;
    input = { start: token.start, structure: utf8(text.slice(structure.start, structure.end)), end: reader.end() };
  }
  if (input === null) return null;
  return { before: utf8(text.slice(start, input.start)), structure: input.structure, after: utf8(text.slice(input.end, reader.end())) };
}

/** The text was read one character a byte. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

function readTable(reader: Reader, text: string): string {
  const name = (): string => {
    const token = reader.next();
    if (token?.kind !== "word" && token?.kind !== "quoted") throw REFUSED.syntax("a table's name must follow INSERT INTO");
    return Buffer.from(text.slice(token.start, token.end), "latin1").toString("utf8");
  };
  const first = name();
  return reader.take(".") ? `${first}.${name()}` : first;
}

/** `(a, b)`, `(*)` or `(* EXCEPT (a, b))`; null for anything else, such as a subquery. */
function readColumns(reader: Reader, text: string): Columns | null {
  const names: string[] = [];
  let except = false;
  let depth = 0;
  do {
    const token = reader.next();
    if (!token) return null;
    const word = reader.wordOf(token);
    if (word === "(") depth++;
    else if (word === ")") depth--;
    else if (word === "*" && depth === 1) except = true;
    else if (except && word === "EXCEPT") continue;
    else if (word === "SELECT" || word === "WITH") return null;
    else if (token.kind === "word" || token.kind === "quoted") names.push(unquotedName(Buffer.from(text.slice(token.start, token.end), "latin1").toString("utf8")));
    else if (word === "." && names.length > 0) names.push(`${names.pop()!}.`);
    else if (word !== ",") return null;
  } while (depth > 0);
  return except ? { except: names } : { named: joinNested(names) };
}

/** `nested.column` came as two names, the first with its dot. */
function joinNested(names: string[]): string[] {
  const joined: string[] = [];
  for (const name of names) {
    if (joined.at(-1)?.endsWith(".")) joined.push(joined.pop()! + name);
    else joined.push(name);
  }
  return joined;
}

function readOther(sql: string, verb: string): Other {
  if (verb === "SET" || verb === "USE") return { kind: "session", sql, format: null, settingsAt: null };
  if (BARE.has(verb)) return { kind: "write", sql, format: null, settingsAt: null };
  if (verb === "INSERT") return { kind: "insert select", sql, format: null, settingsAt: insertSettings(sql) };
  const kind = verb === "KILL" ? "kill" : READS.has(verb) || verb === "(" ? "read" : "write";
  return { kind, sql, ...trailingClauses(sql) };
}

/** `FORMAT x` and, behind it, the SETTINGS of the whole query: there request settings reach every part of a UNION. */
function trailingClauses(sql: string): Pick<Other, "format" | "settingsAt"> {
  const all = [...tokens(sql)];
  const word = (index: number): string => (all[index]?.kind === "word" ? sql.slice(all[index].start, all[index].end) : "");
  const at = all.findLastIndex((_token, index) => word(index).toUpperCase() === "FORMAT" && word(index + 1) !== "");
  const follows = at < 0 ? "" : word(at + 2).toUpperCase();
  const trailing = at > 0 && (at + 2 === all.length || follows === "SETTINGS");
  if (!trailing) return { format: null, settingsAt: { position: sql.length, extend: false } };
  return { format: word(at + 1), settingsAt: { position: sql.length, extend: follows === "SETTINGS" } };
}

/** In front of the SELECT of an INSERT, or behind its SETTINGS word. */
function insertSettings(sql: string): Other["settingsAt"] {
  for (const token of tokens(sql)) {
    const word = token.kind === "word" ? sql.slice(token.start, token.end).toUpperCase() : "";
    if (word === "SETTINGS") return { position: token.end, extend: true };
    if (word === "SELECT" || word === "WITH" || word === "VALUES") {
      const before = sql.slice(0, token.start).trimEnd();
      const parenthesised = before.endsWith("(");
      return { position: parenthesised ? before.length - 1 : token.start, extend: false };
    }
  }
  return null;
}
