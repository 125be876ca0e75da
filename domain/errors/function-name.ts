import { remember } from "./remember.ts";

/**
 * A function's name reduced to what Chrome, Firefox and Safari agree on: its last component, without receiver, `new`,
 * `get`, `[as …]` and the wrappers of anonymous functions. "" for a function without a name.
 * Chrome's `Cart.add [as onClick]`, Firefox's `Cart.prototype.add` and Safari's `add` are all `add`.
 */
export const functionName = remember(10_000, (printed) => {
  let name = printed.trim();
  const alias = name.indexOf(" [as ");
  if (alias !== -1) name = name.slice(0, alias);
  // Firefox names a function after the one that holds it: `outer/inner`, with `<` for one that is passed on.
  name = afterLast(name, "/");
  if (name.endsWith("<")) return "";
  name = withoutWords(lastComponent(withoutWords(name)));
  return name === "anonymous" || name.startsWith("<") ? "" : name;
});

const WORDS = ["async ", "new ", "get ", "set ", "static ", "bound "];

/** `async get total` → `total`. */
function withoutWords(name: string): string {
  const word = WORDS.find((each) => name.startsWith(each));
  return word === undefined ? name : withoutWords(name.slice(word.length));
}

/** `a.b.c` → `c`, `a[Symbol.iterator]` → `Symbol.iterator`, `a["on-click"]` → `on-click`. */
function lastComponent(name: string): string {
  if (name.endsWith("]")) {
    const open = name.lastIndexOf("[");
    if (open !== -1) return name.slice(open + 1, -1).replace(/^["']|["']$/g, "");
  }
  return afterLast(name, ".");
}

function afterLast(text: string, separator: string): string {
  return text.slice(text.lastIndexOf(separator) + 1);
}
