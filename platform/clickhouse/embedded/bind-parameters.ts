import { quotedName, stringLiteral, tokens, unescapedText } from "../tokens.ts";
import { REFUSED } from "./refusal.ts";

/**
 * Puts values into the `{name:Type}` places of a statement. The engine's own binding is not safe to use from several
 * sessions at a time, so each place becomes what a server makes of it: a constant cast to its type. Values arrive
 * in ClickHouse's escaped text form (`\t`, `\N`), as in `param_name=…` of a URL, and stay inside a string literal.
 */
export function bindParameters(sql: string, parameters: ReadonlyMap<string, string>): string {
  let bound = "";
  let copied = 0;
  for (const { start, end, name, type } of places(sql)) {
    const value = parameters.get(name);
    if (value === undefined) throw REFUSED.missingParameter(name);
    bound += sql.slice(copied, start) + constant(value, type);
    copied = end;
  }
  return bound + sql.slice(copied);
}

interface Place {
  start: number;
  end: number;
  name: string;
  type: string;
}

function* places(sql: string): Generator<Place> {
  if (!sql.includes("{")) return;
  const all = [...tokens(sql)];
  const symbol = (index: number): string => (all[index]?.kind === "symbol" ? sql[all[index].start]! : "");
  for (let index = 0; index < all.length; index++) {
    // A map literal `{'a': 1}` has no bare word behind its brace.
    if (symbol(index) !== "{" || all[index + 1]?.kind !== "word" || symbol(index + 2) !== ":") continue;
    let close = index + 3;
    while (close < all.length && symbol(close) !== "}") close++;
    if (close === all.length) throw REFUSED.syntax(`the parameter at position ${all[index]!.start} has no closing brace`);
    const name = sql.slice(all[index + 1]!.start, all[index + 1]!.end);
    yield { start: all[index]!.start, end: all[close]!.end, name, type: sql.slice(all[index + 2]!.end, all[close]!.start).trim() };
    index = close;
  }
}

const TYPE = /^[A-Za-z][\w]*(?:\((?:[\w\s(),.=`"+-]|'(?:[^'\\]|\\.)*')*\))?$/;
/** Types whose text form ClickHouse reads without unescaping it first. */
const COMPOSITE = /^(?:Array|Map|Tuple|Nested|JSON|Object|Variant|Dynamic)\b/;

function constant(value: string, type: string): string {
  if (!TYPE.test(type)) throw REFUSED.badParameter(`"${type}" is no data type`);
  if (type === "Identifier") return quotedName(unescapedText(value));
  if (value === "\\N" && /^(?:LowCardinality\()?Nullable\(/.test(type)) return `CAST(NULL, ${stringLiteral(type)})`;
  // There is no cast from text to a map.
  if (/\bMap\(/.test(type)) return `CAST(${mapExpression(value)}, ${stringLiteral(type)})`;
  const text = COMPOSITE.test(type) ? value : unescapedText(value);
  return `CAST(${stringLiteral(text)}, ${stringLiteral(type)})`;
}

const MAP_SYMBOLS: Record<string, string> = { "{": "map(", "}": ")", ":": "," };

/** `{'a': [1, NULL]}` as an expression: nothing but strings, numbers and brackets go in, so it cannot become anything else. */
function mapExpression(value: string): string {
  let expression = "";
  for (const { kind, start, end } of tokens(value)) {
    const text = value.slice(start, end);
    const harmless = kind === "string" ? /^'(?:[^'\\]|\\[\s\S]|'')*'$/.test(text) : kind === "word" ? /^(?:\d\w*|NULL|TRUE|FALSE|nan|inf)$/i.test(text) : kind === "symbol" && "{}[](),:.+-".includes(text);
    if (!harmless) throw REFUSED.badParameter(`"${text}" cannot stand in the value of a parameter`);
    expression += kind === "symbol" ? (MAP_SYMBOLS[text] ?? text) : text;
  }
  return expression;
}
