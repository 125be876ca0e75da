import { ident, parse, tokenize, tokenTypes, walk, type CssNode } from "css-tree";

/** At-rules that arrange what is there; `@import` and everything unknown are not here. */
const AT_RULES = new Set(["media", "supports", "container", "layer", "scope", "starting-style", "font-face", "keyframes", "-webkit-keyframes", "property", "counter-style"]);

/** Functions in which a mere string is an address. */
const ADDRESS_FUNCTIONS = new Set(["image-set", "-webkit-image-set", "image", "src", "url"]);

const COMPUTING_FUNCTIONS = new Set(["var", "attr", "env", "if"]);

/** Old browsers execute scripts through these. */
const EXECUTING_PROPERTIES = new Set(["behavior", "-ms-behavior", "-moz-binding"]);
const EXECUTING_FUNCTIONS = new Set(["expression"]);

const MAX_NESTING = 50;
const MAX_PARSE_ERRORS = 20;

/** A sentence for each thing in a template's CSS that is unsafe or cannot be read; none when it is safe. */
export function findUnsafeCss(css: string): string[] {
  const faults = new Set<string>();
  // The page carries the CSS inside a style element, which this would end, even in a comment.
  if (css.includes("</") || css.includes("<!")) faults.add("The CSS may not hold </ or <!.");
  const { faults: unclosed, depth } = readTokens(css);
  // Parsing would take the square of the depth's time, and in the end the whole stack.
  if (depth > MAX_NESTING) return [...faults, `The CSS is nested more than ${MAX_NESTING} levels deep.`];
  const sheet = parseUntilTooMuch(css, (line, message) => faults.add(`Line ${line} cannot be read: ${message}.`));
  if (sheet) {
    walk(sheet, (node) => {
      const fault = nodeFault(node);
      if (fault !== null) faults.add(`Line ${node.loc?.start.line ?? 1}: ${fault}`);
    });
  }
  return [...faults, ...unclosed];
}

/** The parsed CSS; null when so much of it cannot be read that reading on would only take time. */
function parseUntilTooMuch(css: string, told: (line: number, message: string) => void): CssNode | null {
  let errors = 0;
  try {
    return parse(css, {
      positions: true,
      // Else addresses in custom properties and in var()'s fallback would stay unread.
      parseCustomProperty: true,
      onParseError({ line, message }) {
        told(line, message);
        if (++errors >= MAX_PARSE_ERRORS) throw new TooManyErrors();
      },
    });
  } catch (error) {
    if (error instanceof TooManyErrors) return null;
    throw error;
  }
}

class TooManyErrors extends Error {}

function nodeFault(node: CssNode): string | null {
  switch (node.type) {
    case "Atrule":
      return AT_RULES.has(plain(node.name)) ? null : `@${plain(node.name).slice(0, 60)} is not allowed.`;
    case "Declaration":
      return EXECUTING_PROPERTIES.has(plain(node.property)) ? `The property ${plain(node.property)} is not allowed.` : null;
    case "Url":
      return addressFault(node.value);
    case "Function":
      return functionFault(plain(node.name), node.children.toArray());
    default:
      return null;
  }
}

function functionFault(name: string, parts: readonly CssNode[]): string | null {
  if (EXECUTING_FUNCTIONS.has(name)) return `${name}() is not allowed.`;
  if (!ADDRESS_FUNCTIONS.has(name)) return null;
  for (const part of parts) {
    // An address that is put together elsewhere cannot be judged.
    if (part.type === "Function" && COMPUTING_FUNCTIONS.has(plain(part.name))) return `${name}() may not hold ${plain(part.name)}().`;
    const fault = part.type === "String" ? addressFault(part.value) : null;
    if (fault !== null) return fault;
  }
  return null;
}

/** How deep the CSS is nested, and what the parser forgives at the end of the text, where it would take in what follows on the page. */
function readTokens(css: string): { faults: string[]; depth: number } {
  const faults = new Set<string>();
  const open: string[] = [];
  let depth = 0;
  tokenize(css, (type, start, end) => {
    if (type === tokenTypes.BadString || type === tokenTypes.BadUrl) faults.add("A text or an address is not closed.");
    const text = css.slice(start, end);
    if (type === tokenTypes.String && (text.length < 2 || !text.endsWith(text[0]!))) faults.add("A text is not closed.");
    if (type === tokenTypes.Url && !text.endsWith(")")) faults.add("An address is not closed.");
    if (type === tokenTypes.Comment && !(text.length >= 4 && text.endsWith("*/"))) faults.add("A comment is not closed.");
    const closing = CLOSING[type];
    if (closing !== undefined) depth = Math.max(depth, open.push(closing));
    else if (text === open.at(-1)) open.pop();
  });
  if (open.length > 0) faults.add(`A ${open.at(-1)} is missing.`);
  return { faults: [...faults], depth };
}

const CLOSING: Record<number, string> = {
  [tokenTypes.Function]: ")",
  [tokenTypes.LeftParenthesis]: ")",
  [tokenTypes.LeftSquareBracket]: "]",
  [tokenTypes.LeftCurlyBracket]: "}",
};

function addressFault(address: string): string | null {
  return /^https:\/\//i.test(address) ? null : `The address "${address.slice(0, 60)}" must begin with https://.`;
}

/** A name as browsers read it: escapes resolved, in lower case. */
function plain(name: string): string {
  return ident.decode(name).toLowerCase();
}
