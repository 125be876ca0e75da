import { cutWhole } from "../cut-whole.ts";
import { DOCUMENT, isDocument } from "./document-file.ts";
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
  /** The file's name as it stays from build to build; "" without a file, `<document>` for a page. */
  stable_file: string;
  /** It did not call what stands above it: it waited for it, or caused it some time before. */
  async: boolean;
  /** The text of its line in the source, of a mapped frame without a name; null for others. */
  source_line: string | null;
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
 * Reads the stack of an error as Chrome and Node (V8), Firefox (SpiderMonkey), Safari (JavaScriptCore), React Native (Hermes
 * and JavaScriptCore) and the first Edge (Chakra) print it.
 * `message` is the error's own: V8 repeats it above the frames, where its lines must not be taken for some.
 * Never throws, takes time linear in the text; what is no frame is passed over.
 */
export function parseStack(stack: string, message = ""): ParsedStack {
  return v8Stack(stack, endOfHeader(stack, message)) ?? framesOf(stack, 0, atSignFrame);
}

/** The frames that V8 printed from there on, or null: they follow from that part of the text alone. */
export function v8Stack(stack: string, from: number): ParsedStack | null {
  const read = framesOf(stack, from, v8Frame);
  return read.frames.length > 0 ? read : null;
}

function framesOf(stack: string, from: number, read: (line: string) => ParsedFrame | null): ParsedStack {
  const frames: ParsedFrame[] = [];
  let truncated = false;
  for (let start = from; start < stack.length; ) {
    const newline = stack.indexOf("\n", start);
    const end = newline === -1 ? stack.length : newline;
    const frame = read(lineOf(stack, start, end));
    if (frame !== null) frames.push(frame);
    // Now and then, so that a stack of megabytes takes no more memory than its text.
    if (frames.length >= 20 * MAX_FRAMES) truncated = shorten(frames);
    start = end + 1;
  }
  return { frames, truncated: shorten(frames) || truncated };
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

/** Leaves the innermost and the outermost 50; says whether there were more. */
function shorten(frames: ParsedFrame[]): boolean {
  if (frames.length <= MAX_FRAMES) return false;
  frames.splice(MAX_FRAMES / 2, frames.length - MAX_FRAMES);
  return true;
}

/** `at name (location)`, `at location`; null when the line is no frame. */
function v8Frame(line: string): ParsedFrame | null {
  if (!line.startsWith("at ")) return null;
  if (!line.startsWith("async ", 3)) return v8Call(line.slice(3));
  const frame = v8Call(line.slice(9));
  if (frame !== null) frame.async = true;
  return frame;
}

function v8Call(text: string): ParsedFrame | null {
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

function v8Location(name: string, printed: string): ParsedFrame | null {
  if (printed.startsWith("eval at ")) return evalFrame(name, innermostOrigin(printed));
  // Hermes runs bytecode: the column is an offset in it.
  const isBytecode = printed.charCodeAt(0) === 97 && printed.startsWith("address at ");
  const position = positionOf(isBytecode ? printed.slice(11) : printed);
  if (printed.charCodeAt(0) === 110 && printed.startsWith("native ")) return nativeFrame(name);
  if (position === null || position.column === null) return printed === "native" || printed === "<anonymous>" || printed.startsWith("index ") ? nativeFrame(name) : null;
  // Code typed into a console or made by eval: it has a position, but no file that anybody could open.
  if (isNoFile(position.file)) return makeFrame(name, "eval", { ...position, file: null });
  return makeFrame(isBytecode && name === "global" ? "" : name, "script", position);
}

/** What engines print in place of a file; the last four are of the first Edge and Internet Explorer. */
const CODE_WITHOUT_FILE = new Set(["", "<anonymous>", "debugger eval code", "eval code", "Function code", "Unknown script code", "anonymous"]);

/** By its length first, which spares most names the search. */
function isNoFile(file: string): boolean {
  return file.length < 20 && CODE_WITHOUT_FILE.has(file);
}

/** `eval at a (eval at b (https://x/app.js:10:5), <anonymous>:1:1), <anonymous>:3:7` → `https://x/app.js:10:5`. */
function innermostOrigin(location: string): string {
  let start = 0;
  while (location.startsWith("eval at ", start)) {
    const open = location.indexOf(" (", start + 8);
    if (open === -1) return "";
    start = open + 2;
  }
  const close = location.indexOf("), ", start);
  let end = close === -1 ? location.length : close;
  // V8 closes all nested ones at once.
  while (end > start && location.charCodeAt(end - 1) === 41) end--;
  return location.slice(start, end);
}

function evalFrame(name: string, origin: string): ParsedFrame {
  return makeFrame(name, "eval", positionOf(origin) ?? NOWHERE);
}

/** `name@location` of Firefox and Safari, and Safari's bare locations; null when the line is no frame. */
function atSignFrame(line: string): ParsedFrame | null {
  const frame = atSignCall(line);
  if (frame !== null && isAsyncParent(line)) frame.async = true;
  return frame;
}

/** Firefox: `async*load@…`, `setTimeout handler*tick@…`; Safari: `async load@…`. */
function isAsyncParent(line: string): boolean {
  if (line.startsWith("async ")) return true;
  const star = line.indexOf("*");
  return star > 0 && star < separatorOf(line);
}

function atSignCall(line: string): ParsedFrame | null {
  const separator = separatorOf(line);
  const name = separator === -1 ? "" : atSignName(line.slice(0, separator));
  const location = line.slice(separator + 1);
  if (location === "[native code]" || location === "[wasm code]") return nativeFrame(name);
  if (line === "eval code" || isEvalCode(name, location)) return makeFrame(name === "eval code" ? "" : name, "eval", NOWHERE);

  const arrow = location.indexOf(" > ");
  const outer = arrow === -1 ? null : outerPosition(location.slice(0, arrow));
  if (outer !== null) return makeFrame(name, "eval", outer);
  const position = positionOf(location);
  if (position === null) return null;
  const { file } = position;
  if (file === "self-hosted") return nativeFrame(name);
  if (isNoFile(file)) return makeFrame(name, "eval", { ...position, file: null });
  // JavaScriptCore in React Native names no file when there is one bundle: `press@1:132161`.
  if (position.column === null && isNumber(file)) return isBareName(name) ? makeFrame(name, "script", { file: null, line: Number(file), column: position.line }) : null;
  if (separator === -1 && !looksLikeFile(file)) return null;
  // With a `sourceURL`, code that eval runs is a file of its own.
  return makeFrame(name === "eval code" ? "" : name, "script", position);
}

/** Safari's `eval code@`, and `inner@` for a function in it. */
function isEvalCode(name: string, location: string): boolean {
  return location === "" && isBareName(name);
}

function isBareName(name: string): boolean {
  return name === "eval code" || (name !== "" && !/[\s:,;()]/.test(name));
}

function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text);
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
  return isNumber(digits) ? { file: text.slice(0, marker), line: Number(digits), column: null } : null;
}

function looksLikeFile(file: string): boolean {
  return file.includes("://") || file.startsWith("/") || /^[A-Za-z]:[\\/]/.test(file);
}

interface Position {
  file: string | null;
  line: number | null;
  column: number | null;
}

const NOWHERE: Position = { file: null, line: null, column: null };

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
  return { function: nameOrNull(name), file: null, line: null, column: null, in_app: false, kind: "native", stable_file: "", async: false, source_line: null };
}

function makeFrame(name: string, kind: "script" | "eval", { file, line, column }: Position): ParsedFrame {
  const short = file === null ? null : cutWhole(file, MAX_FILE_CHARACTERS);
  const { inApp, stable } = short === null ? NO_FILE : judgeFile(short);
  return { function: nameOrNull(name), file: short, line, column, in_app: inApp, kind, stable_file: stable, async: false, source_line: null };
}

const NO_FILE = { inApp: false, stable: "" };
/** Few files make up most of what is reported. */
const judgeFile = remember(10_000, (file) => {
  const inApp = isInApp(file);
  return { inApp, stable: inApp && isDocument(file) ? DOCUMENT : stableFile(file) };
});

const NAMELESS = new Set(["", "<anonymous>", "new <anonymous>", "anonymous", "Anonymous function", "Global code", "?", "(anonymous function)", "(anonymous)"]);

function nameOrNull(name: string): string | null {
  // Firefox calls a WebAssembly function without a name by its number.
  return NAMELESS.has(name) || (name.charCodeAt(0) === 119 && name.startsWith("wasm-function[")) ? null : cutWhole(name, MAX_FUNCTION_CHARACTERS);
}
