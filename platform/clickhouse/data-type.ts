import { tokens, unescapedText, type Token } from "./tokens.ts";

/** A data type as ClickHouse prints it: `Map(LowCardinality(String), String)`. */
export interface DataType {
  /** The word in front of the parenthesis; of an argument of an Enum its name. */
  name: string;
  args: DataType[];
  /** As printed. */
  text: string;
  /** Of an argument of an Enum: what stands for it. */
  code: number;
}

/** Never throws: what is not understood has a name that nobody knows. */
export function parseDataType(text: string): DataType {
  const all = [...tokens(text)];
  return typeOf(text, all);
}

function typeOf(text: string, all: Token[]): DataType {
  const words = all.map(({ start, end }) => text.slice(start, end));
  const printed = all.length === 0 ? "" : text.slice(all[0]!.start, all.at(-1)!.end);
  if (all[0]?.kind === "string") return { name: unescapedText(words[0]!.slice(1, -1)), args: [], text: printed, code: Number(words.slice(2).join("")) };
  const args = words[1] === "(" ? argumentsIn(words).map(([from, to]) => typeOf(text, all.slice(from, to))) : [];
  return { name: words[0] ?? "", args, text: printed, code: Number.NaN };
}

/** From which to which token each argument between the outer parentheses goes. */
function argumentsIn(words: string[]): [number, number][] {
  const found: [number, number][] = [];
  let depth = 0;
  let from = 2;
  for (let at = 1; at < words.length; at++) {
    if (words[at] === "(") depth++;
    else if (words[at] === ")") depth--;
    if (depth === 0 || (depth === 1 && words[at] === ",")) {
      found.push([from, at]);
      from = at + 1;
    }
  }
  return found;
}
