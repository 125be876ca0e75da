import { parseSync, visitorKeys } from "oxc-parser";
import { lastNotAbove } from "./last-not-above.ts";
import { nestsDeeperThan } from "./nesting.ts";

/** Which function each place of a text is in. From `starts[n]` up to `starts[n + 1]` it is `names[n]`, the innermost one's name; null outside of all and in nameless ones. */
export interface FunctionRanges {
  /** UTF-16 offsets, ascending; the first is 0. */
  starts: Int32Array;
  names: (string | null)[];
}

/** The syntax tree of more takes hundreds of megabytes. */
const MAX_PARSED_CHARACTERS = 2 * 1024 * 1024;
/**
 * The parser is native and recurses: deep nesting ends the whole process by a segmentation fault, on the 4 MiB stack of a worker thread
 * from about 1,000 brackets on. Written code stays below 50. This keeps out what a generator made, not what somebody made to pass it by.
 */
const MAX_NESTING = 250;
const MAX_NAME_CHARACTERS = 500;

/** The dialects to try, in this order. JSX is tried on plain scripts because React's sources have it there; TypeScript because Flow's types look alike. */
const DIALECTS: Record<string, readonly ("jsx" | "ts" | "tsx")[]> = {
  js: ["jsx", "tsx"],
  mjs: ["jsx", "tsx"],
  cjs: ["jsx", "tsx"],
  jsx: ["jsx", "tsx"],
  ts: ["ts"],
  mts: ["ts"],
  cts: ["ts"],
  tsx: ["tsx"],
};

/** The functions of an original source by its dialect, which its name's extension tells; null for other languages and for what cannot be parsed. */
export function functionRangesOf(source: string, text: string): FunctionRanges | null {
  const extension = /\.(\w+)$/.exec(source.replace(/[?#].*$/s, ""))?.[1]?.toLowerCase() ?? "";
  const dialects = Object.hasOwn(DIALECTS, extension) ? DIALECTS[extension]! : [];
  if (dialects.length === 0 || text.length > MAX_PARSED_CHARACTERS || nestsDeeperThan(MAX_NESTING, text)) return null;
  for (const lang of dialects) {
    const program = parse(text, lang);
    if (program !== null) return flatten(functionsIn(program));
  }
  return null;
}

/** The innermost function's name at a UTF-16 offset. */
export function functionAt({ starts, names }: FunctionRanges, offset: number): string | null {
  return names[lastNotAbove(starts, offset, 0, starts.length)] ?? null;
}

/** A node of the syntax tree (ESTree, with TypeScript's nodes). `start` and `end` are UTF-16 offsets. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Null when nothing could be made of it; the parser recovers from some errors by itself. */
function parse(text: string, lang: "jsx" | "ts" | "tsx"): Node | null {
  try {
    const { program, errors } = parseSync(`source.${lang}`, text, { lang, sourceType: "unambiguous", preserveParens: false });
    return program.body.length === 0 && errors.length > 0 ? null : (program as unknown as Node);
  } catch {
    return null;
  }
}

interface NamedRange {
  name: string | null;
  start: number;
  end: number;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** In the order of their beginnings. Walks without recursion, because chains of operators nest as deep as they are long. */
function functionsIn(program: Node): NamedRange[] {
  const found: NamedRange[] = [];
  /** What stands around a nameless function or class calls it. */
  const given = new Map<Node, string>();
  const waiting: Node[] = [program];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    nameChildren(node, given);
    if (FUNCTIONS.has(node.type)) found.push({ name: ownName(node) ?? given.get(node) ?? null, start: node.start, end: node.end });
    for (const key of visitorKeys[node.type] ?? []) {
      const child = node[key];
      for (const each of Array.isArray(child) ? (child as unknown[]) : [child]) if (isNode(each)) waiting.push(each);
    }
  }
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Partial<Node>).type === "string";
}

function nameChildren(node: Node, given: Map<Node, string>): void {
  const give = (child: unknown, name: string | null) => {
    if (isNode(child) && name !== null && name !== "") given.set(child, name.slice(0, MAX_NAME_CHARACTERS));
  };
  switch (node.type) {
    case "VariableDeclarator":
      return give(node["init"], nameOf(node["id"]));
    case "AssignmentExpression":
    case "AssignmentPattern":
      return give(node["right"], nameOf(node["left"]));
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "AccessorProperty":
      return give(node["value"], node["kind"] === "constructor" ? (given.get(node) ?? null) : keyName(node["key"], node["computed"] === true));
    case "ExportDefaultDeclaration":
      return give(node["declaration"], "default");
    case "ClassDeclaration":
    case "ClassExpression": {
      // Through the class's body to its constructor, which is called by the class's name.
      const name = ownName(node) ?? given.get(node) ?? null;
      const members = isNode(node["body"]) ? (node["body"]["body"] as unknown[]) : [];
      return members.forEach((member) => give(member, name));
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
      return give(node["expression"], given.get(node) ?? null);
    default:
  }
}

function ownName(node: Node): string | null {
  const id = nameOf(node["id"]);
  return id === null ? null : id.slice(0, MAX_NAME_CHARACTERS);
}

/** What is assigned to: `x`, `a.b.x`, `this.#x`, `a["x"]`. */
function nameOf(target: unknown): string | null {
  if (!isNode(target)) return null;
  if (target.type === "Identifier") return target["name"] as string;
  return target.type === "MemberExpression" ? keyName(target["property"], target["computed"] === true) : null;
}

/** `x`, `#x`, `"x"`, `12`, `["x"]`, `[Symbol.iterator]`; null for a key that is computed otherwise. */
function keyName(key: unknown, computed: boolean): string | null {
  if (!isNode(key)) return null;
  if (key.type === "PrivateIdentifier") return `#${key["name"] as string}`;
  if (key.type === "Literal") return String(key["value"]);
  if (!computed) return nameOf(key);
  const [object, property] = [key["object"], key["property"]];
  const plain = key.type === "MemberExpression" && key["computed"] === false && isNode(object) && object.type === "Identifier";
  return plain ? `[${object["name"] as string}.${nameOf(property) ?? ""}]` : null;
}

/** Nested ranges, in the order of their beginnings, turned into those that follow each other. */
function flatten(functions: readonly NamedRange[]): FunctionRanges {
  const starts = [0];
  const names: (string | null)[] = [null];
  const around: NamedRange[] = [];
  const begin = (at: number, name: string | null) => {
    if (starts.at(-1) === at) names[names.length - 1] = name;
    else if (names.at(-1) !== name) {
      starts.push(at);
      names.push(name);
    }
  };
  const leaveBefore = (at: number) => {
    for (let inner = around.at(-1); inner !== undefined && inner.end <= at; inner = around.at(-1)) {
      around.pop();
      begin(inner.end, around.at(-1)?.name ?? null);
    }
  };
  for (const each of functions) {
    leaveBefore(each.start);
    begin(each.start, each.name);
    around.push(each);
  }
  leaveBefore(Number.POSITIVE_INFINITY);
  return { starts: Int32Array.from(starts), names };
}
