import { isInApp } from "./in-app.ts";
import { remember } from "./remember.ts";
import { stableFile } from "./stable-file.ts";

/** A frame as a stack prints it, before symbolication. */
export interface ParsedFrame {
  /** As printed, without `async`; null when the engine gave no name. */
  function: string | null;
  /** A URL or path; null for native frames. An eval frame names its outer file. */
  file: string | null;
  /** 1-based, as printed; null for native frames. */
  line: number | null;
  /** 1-based, as printed; null for native frames and where the engine gave none. */
  column: number | null;
  in_app: boolean;
  kind: "script" | "eval" | "native";
  /** The file's name as it stays from build to build; "" without a file. */
  stable_file: string;
}

export interface ParsedStack {
  /** Innermost first. */
  frames: ParsedFrame[];
  /** More than 100 frames were printed: the innermost and the outermost 50 are here. */
  truncated: boolean;
}

const MAX_FRAMES = 100;
const MAX_FUNCTION_CHARACTERS = 500;
const MAX_FILE_CHARACTERS = 2_000;

/**
 * Reads the stack of an error as Chrome and Node (V8), Firefox (SpiderMonkey) and Safari (JavaScriptCore) print it.
 * `message` is the error's own: V8 repeats it above the frames, where its lines must not be taken for some.
 * Never throws, takes time linear in the text; what is no frame is passed over.
 */
export function parseStack(stack: string, message = ""): ParsedStack {
  return v8Stack(stack, endOfHeader(stack, message)) ?? shorten(framesOf(stack, 0, atSignFrame));
}

/** The frames that V8 printed from there on, or null: they follow from that part of the text alone. */
export function v8Stack(stack: string, from: number): ParsedStack | null {
  const frames = framesOf(stack, from, v8Frame);
  return frames.length > 0 ? shorten(frames) : null;
}

function framesOf(stack: string, from: number, read: (line: string) => ParsedFrame | null): ParsedFrame[] {
  const frames: ParsedFrame[] = [];
  for (let start = from; start < stack.length; ) {
    const newline = stack.indexOf("\n", start);
    const end = newline === -1 ? stack.length : newline;
    const frame = read(lineOf(stack, start, end));
    if (frame !== null) frames.push(frame);
    start = end + 1;
  }
  return frames;
}

/** A line without the blanks around it. */
function lineOf(stack: string, start: number, end: number): string {
  while (start < end && stack.charCodeAt(start) <= 32) start++;
  while (end > start && stack.charCodeAt(end - 1) <= 32) end--;
  return stack.slice(start, end);
}

/** Where the message ends above the frames, or 0: V8 begins a stack with `Type: message`; the message can have many lines. */
export function endOfHeader(stack: string, message: string): number {
  if (message === "") return 0;
  if (stack.startsWith(message)) return message.length;
  const colon = stack.indexOf(": ");
  return colon !== -1 && stack.startsWith(message, colon + 2) ? colon + 2 + message.length : 0;
}

function shorten(frames: ParsedFrame[]): ParsedStack {
  if (frames.length <= MAX_FRAMES) return { frames, truncated: false };
  return { frames: [...frames.slice(0, MAX_FRAMES / 2), ...frames.slice(-MAX_FRAMES / 2)], truncated: true };
}

/** `at name (location)`, `at location`; null when the line is no frame. */
function v8Frame(line: string): ParsedFrame | null {
  if (!line.startsWith("at ")) return null;
  const text = line.startsWith("async ", 3) ? line.slice(9) : line.slice(3);
  if (text.endsWith(")") && !text.startsWith("eval at ")) {
    const open = openingOf(text);
    if (open !== -1) return v8Location(text.slice(0, Math.max(open - 1, 0)), text.slice(open + 1, -1));
  }
  return v8Location("", text);
}

/**
 * Where the location's parenthesis opens. URLs and names may hold parentheses too, mostly balanced ones;
 * when they do not balance, the first one after a space is taken.
 */
function openingOf(text: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 41) depth++;
    else if (code === 40 && --depth === 0) return at === 0 || text.charCodeAt(at - 1) === 32 ? at : text.indexOf(" (") + 1 || at;
  }
  return text.indexOf(" (") + 1 || -1;
}

function v8Location(name: string, location: string): ParsedFrame | null {
  if (location.startsWith("eval at ")) return evalFrame(name, innermostOrigin(location));
  const position = positionOf(location);
  if (location.startsWith("native ")) return nativeFrame(name);
  if (position === null || position.column === null) return location === "native" || location === "<anonymous>" || location.startsWith("index ") ? nativeFrame(name) : null;
  // Code typed into a console: it has a position, but no file that anybody could open.
  if (position.file === "<anonymous>" || position.file === "") return makeFrame(name, "eval", { ...position, file: null });
  return makeFrame(name, "script", position);
}

/** `eval at a (eval at b (https://x/app.js:10:5), <anonymous>:1:1), <anonymous>:3:7` → `https://x/app.js:10:5`. */
function innermostOrigin(location: string): string {
  let start = 0;
  while (location.startsWith("eval at ", start)) {
    const open = location.indexOf(" (", start + 8);
    if (open === -1) return "";
    start = open + 2;
  }
  const end = location.indexOf("), ", start);
  return location.slice(start, end === -1 ? location.length : end).replace(/\)$/, "");
}

function evalFrame(name: string, origin: string): ParsedFrame {
  return makeFrame(name, "eval", positionOf(origin) ?? { file: null, line: null, column: null });
}

/** `name@location` of Firefox and Safari, and Safari's bare locations; null when the line is no frame. */
function atSignFrame(line: string): ParsedFrame | null {
  const separator = separatorOf(line);
  const name = separator === -1 ? "" : atSignName(line.slice(0, separator));
  const location = line.slice(separator + 1);
  if (location === "[native code]" || location === "[wasm code]") return nativeFrame(name);
  if (name === "eval code" || line === "eval code") return makeFrame("", "eval", { file: null, line: null, column: null });

  const arrow = location.indexOf(" > ");
  const outer = arrow === -1 ? null : outerPosition(location.slice(0, arrow));
  if (outer !== null) return makeFrame(name, "eval", outer);
  const position = positionOf(location);
  if (position === null) return null;
  if (position.file === "debugger eval code" || position.file === "") return makeFrame(name, "eval", { ...position, file: null });
  if (separator === -1 && !looksLikeFile(position.file)) return null;
  return makeFrame(name, "script", position);
}

/** The `@` between name and location: both may hold more of them (`@scope/package`, `[@@iterator]`). */
function separatorOf(line: string): number {
  const scheme = line.indexOf("://");
  return scheme === -1 ? line.indexOf("@") : line.lastIndexOf("@", scheme);
}

/** Firefox puts what caused an asynchronous call before a `*`; Safari calls top-level code by what it is. */
function atSignName(text: string): string {
  const name = withoutAsync(text.slice(text.lastIndexOf("*") + 1));
  return name === "global code" || name === "module code" ? "" : name;
}

/** Firefox: `https://x/app.js line 5` of `https://x/app.js line 5 > eval:1:1`; it does not tell the column. */
function outerPosition(text: string): Position | null {
  const marker = text.lastIndexOf(" line ");
  const digits = marker === -1 ? "" : text.slice(marker + 6);
  return /^\d{1,10}$/.test(digits) ? { file: text.slice(0, marker), line: Number(digits), column: null } : null;
}

function looksLikeFile(file: string): boolean {
  return file.includes("://") || file.startsWith("/") || /^[A-Za-z]:[\\/]/.test(file);
}

interface Position {
  file: string | null;
  line: number | null;
  column: number | null;
}

/** `file:line:column`, `file:line`, or the place of a WebAssembly function; null when the text ends with no number. */
function positionOf(location: string): (Position & { file: string }) | null {
  // Searched by hand from the end: this runs for every frame of every error.
  const last = colonBefore(location, location.length);
  if (last === -1) return wasmPosition(location);
  const lastNumber = numberIn(location, last + 1, location.length);
  const before = colonBefore(location, last);
  if (before !== -1) return { file: location.slice(0, before), line: numberIn(location, before + 1, last), column: lastNumber };
  const file = location.slice(0, last);
  // `http://localhost:8080` names a port, not a line.
  const host = file.indexOf("://");
  return host !== -1 && !file.includes("/", host + 3) ? null : { file, line: lastNumber, column: null };
}

/** The colon before one to ten digits that end at `end`, or -1. */
function colonBefore(text: string, end: number): number {
  let at = end - 1;
  while (at >= 0 && end - at <= 11) {
    const code = text.charCodeAt(at);
    if (code === 58) return at === end - 1 ? -1 : at;
    if (code < 48 || code > 57) return -1;
    at--;
  }
  return -1;
}

/** What the digits from `start` to `end` write. */
function numberIn(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + text.charCodeAt(at) - 48;
  return value;
}

/** `https://x/a.wasm:wasm-function[3]:0x1f`: as V8's own call sites, line 1 and the byte's offset plus 1. */
function wasmPosition(location: string): (Position & { file: string }) | null {
  const at = location.indexOf(":wasm-function[");
  if (at === -1) return null;
  const offset = Number.parseInt(location.slice(location.lastIndexOf(":") + 1), 16);
  const valid = Number.isSafeInteger(offset) && offset >= 0;
  return { file: location.slice(0, at), line: valid ? 1 : null, column: valid ? offset + 1 : null };
}

function withoutAsync(text: string): string {
  return text.startsWith("async ") ? text.slice(6).trimStart() : text;
}

function nativeFrame(name: string): ParsedFrame {
  return { function: nameOrNull(name), file: null, line: null, column: null, in_app: false, kind: "native", stable_file: "" };
}

function makeFrame(name: string, kind: "script" | "eval", { file, line, column }: Position): ParsedFrame {
  const short = file !== null && file.length > MAX_FILE_CHARACTERS ? file.slice(0, MAX_FILE_CHARACTERS) : file;
  const { inApp, stable } = short === null ? NO_FILE : judgeFile(short);
  return { function: nameOrNull(name), file: short, line, column, in_app: inApp, kind, stable_file: stable };
}

const NO_FILE = { inApp: false, stable: "" };
/** Few files make up most of what is reported. */
const judgeFile = remember(10_000, (file) => ({ inApp: isInApp(file), stable: stableFile(file) }));

const NAMELESS = new Set(["", "<anonymous>", "new <anonymous>", "anonymous", "Anonymous function", "Global code", "?"]);

function nameOrNull(name: string): string | null {
  return NAMELESS.has(name) ? null : name.slice(0, MAX_FUNCTION_CHARACTERS);
}
