/**
 * A function's name reduced to what Chrome, Firefox and Safari agree on: its last component, without receiver, `new`,
 * `get`, `[as …]` and the wrappers of anonymous functions. "" for a function without a name.
 * Chrome's `Cart.add [as onClick]`, Firefox's `Cart.prototype.add` and Safari's `add` are all `add`.
 */
export function functionName(printed: string): string {
  const name = plainEnd(printed) ?? reduced(printed);
  // `eval` is what V8 calls the code that eval runs. Compared by hand: a set would hash every name.
  return name === "anonymous" || name === "eval" ? "" : name;
}

/** The usual case in one look: what stands behind the last dot or slash, when that is an identifier. */
function plainEnd(printed: string): string | null {
  let at = printed.length - 1;
  while (at >= 0 && IDENTIFIER[printed.charCodeAt(at)] === 1) at--;
  if (at === -1) return printed;
  const code = printed.charCodeAt(at);
  return (code === 46 || code === 47) && at < printed.length - 1 ? printed.slice(at + 1) : null;
}

/** 1 for letters and digits of ASCII, `_`, `$` and the `#` of private names. */
const IDENTIFIER = new Uint8Array(128).map((_, code) => (/[\w$#]/.test(String.fromCharCode(code)) ? 1 : 0));

function reduced(printed: string): string {
  const alias = printed.indexOf(" [as ");
  // Firefox names a function after the one that holds it: `outer/inner`, with `<` for one that is passed on.
  let name = afterLast(alias === -1 ? printed : printed.slice(0, alias), "/");
  if (name.endsWith("<")) return "";
  // Hermes: `?anon_0_load` is what runs inside of the asynchronous `load`.
  name = withoutWords(lastComponent(withoutWords(name))).replace(/^\?anon_\d+_/, "");
  return name.startsWith("<") ? "" : name;
}

const WORDS = ["async ", "new ", "get ", "set ", "static ", "bound "];

/** `async get total` → `total`. */
function withoutWords(name: string): string {
  if (!name.includes(" ")) return name;
  const word = WORDS.find((each) => name.startsWith(each));
  return word === undefined ? name : withoutWords(name.slice(word.length));
}

/** `a.b.c` → `c`, `a[Symbol.iterator]` → `Symbol.iterator`, `a["on-click"]` → `on-click`. */
function lastComponent(name: string): string {
  if (name.endsWith("]")) {
    const open = name.lastIndexOf("[");
    const key = name.slice(open + 1, -1);
    // Firefox prints an element's number, the others nothing.
    if (open > 0 && /^\d+$/.test(key)) return "";
    if (open !== -1) return key.replace(/^["']|["']$/g, "");
  }
  return afterLast(name, ".");
}

function afterLast(text: string, separator: string): string {
  return text.slice(text.lastIndexOf(separator) + 1);
}
