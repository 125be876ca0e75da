/** A piece of SQL as ClickHouse's lexer cuts it; offsets count characters of the text. */
export interface Token {
  kind: "word" | "quoted" | "string" | "symbol";
  start: number;
  end: number;
}

// Sticky patterns, tried in this order. Strings and quoted names know backslashes and doubled quotes.
const SKIPPED = /(?:\s+|--[^\n]*|#[! ][^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const STRING = /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/y;
const QUOTED = /`(?:[^`\\]|\\[\s\S]|``)*(?:`|$)|"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)/y;
const HEREDOC = /\$(\w*)\$[\s\S]*?(?:\$\1\$|$)/y;
const WORD = /[\w$\u0080-\uffff]+/y;

const PATTERNS = [
  ["string", STRING],
  ["quoted", QUOTED],
  ["string", HEREDOC],
  ["word", WORD],
] as const;

const at = (pattern: RegExp, text: string, position: number): number => {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : -1;
};

/** Cuts SQL lazily, so that the data behind an `INSERT … FORMAT X` is never looked at. Comments and white space are left out. */
export function* tokens(text: string): Generator<Token> {
  let position = 0;
  while (position < text.length) {
    const skipped = at(SKIPPED, text, position);
    if (skipped > position) position = skipped;
    if (position >= text.length) return;
    const token = cut(text, position);
    position = token.end;
    yield token;
  }
}

function cut(text: string, start: number): Token {
  for (const [kind, pattern] of PATTERNS) {
    const end = at(pattern, text, start);
    if (end > start) return { kind, start, end };
  }
  return { kind: "symbol", start, end: start + 1 };
}

/** The statements of a script: cut at semicolons outside of strings, names and comments; empty ones left out. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let start = -1;
  let end = 0;
  for (const token of tokens(script)) {
    if (token.kind === "symbol" && script[token.start] === ";") {
      if (start >= 0) statements.push(script.slice(start, end));
      start = -1;
    } else {
      if (start < 0) start = token.start;
      end = token.end;
    }
  }
  if (start >= 0) statements.push(script.slice(start, end));
  return statements;
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

/** A ClickHouse string literal that holds exactly this text. */
export function stringLiteral(text: string): string {
  return `'${text.replace(/[\\'\n\r\t\0]/g, (character) => ESCAPES[character]!)}'`;
}

/** A quoted name of a table, column or database. */
export function quotedName(name: string): string {
  return `\`${name.replace(/[\\`]/g, (character) => `\\${character}`)}\``;
}

/** The name that a word or a quoted name stands for. */
export function unquotedName(text: string): string {
  const quote = text[0];
  if (quote !== "`" && quote !== '"') return text;
  return text.slice(1, -1).replaceAll(quote + quote, quote).replace(/\\([\s\S])/g, "$1");
}

const UNESCAPES: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", 0: "\0", a: "\u0007", v: "\v" };

/** What a text in ClickHouse's escaped form stands for. */
export function unescapedText(text: string): string {
  return text.includes("\\") ? text.replace(/\\([\s\S])/g, (_all, character: string) => UNESCAPES[character] ?? character) : text;
}
