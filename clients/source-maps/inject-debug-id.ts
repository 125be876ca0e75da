import { createHash } from "node:crypto";
import { closingComments } from "./closing-comments.ts";
import { directivesOf } from "./directives.ts";
import { insertLine, isFields } from "./insert-line.ts";

/** A script and its map with one debug id in both; `script` or `map` is null where nothing has to change. */
type Injection = { kind: "injected"; debugId: string; script: string | null; map: string | null } | { kind: "unreadable"; reason: string };

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const IS_UUID = new RegExp(`^${UUID}$`, "i");
const SNIPPET = new RegExp(`^[^\\n]{0,2000}\\._pharosDebugIds=[^\\n]{0,80}\\]="(${UUID})"`);

/** Says in a map that the snippet's line is counted in it. Of the two files one may have been written and the other not. */
const COUNTED = "x_pharos_snippet";

/** What comes before everything: a byte order mark (its bytes, read as Latin-1) and a hashbang. */
const HEAD = /^(?:\u00EF\u00BB\u00BF)?(?:#![^\n]*\n?)?/;

/**
 * Gives a script and its map one debug id: the one that either of them has, else one made of both contents. The script gets a line at its
 * top that registers the id with the browser's SDK, and a comment before that of its map; the map gets `debugId` (ECMA-426) and the line.
 * Done a second time it changes nothing, and what was done by half is completed.
 *
 * `script` is read as Latin-1, so that writing it back keeps every byte; `map` is its text.
 */
export function injectDebugId(script: string, map: string): Injection {
  const fields = parseMap(map);
  if (!fields) return { kind: "unreadable", reason: "The map is not valid JSON, so nothing was injected. Build it again." };
  const head = HEAD.exec(script)![0];
  const body = script.slice(head.length);
  const injected = SNIPPET.exec(body)?.[1];
  const debugId = (injected ?? idOf(fields["debugId"]) ?? idOf(fields["debug_id"]) ?? idOf(closingComments(script).debugId?.value) ?? idFrom(script, map)).toLowerCase();
  const withLine = injected ? script : `${head}${head === "" || head.endsWith("\n") || !head.includes("#!") ? "" : "\n"}${snippetFor(body, debugId)}\n${body}`;
  const newScript = withComment(withLine, debugId);
  const newMap = withDebugId(fields, debugId, head.includes("#!") ? 1 : 0);
  return { kind: "injected", debugId, script: newScript === script ? null : newScript, map: newMap };
}

function parseMap(text: string): Record<string, unknown> | null {
  try {
    // The line that keeps a script tag from running the JSON (ECMA-426, "XSSI").
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, "").replace(/^\)\]\}'[^\n]*\n/, ""));
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function idOf(value: unknown): string | undefined {
  return typeof value === "string" && IS_UUID.test(value) ? value : undefined;
}

/** In the layout of version 5, by SHA-256: the same build gets the same id. */
function idFrom(script: string, map: string): string {
  const hex = createHash("sha256").update(script, "latin1").update("\0").update(map).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Repeats the directives behind it, which would be none any more; with an escape in it a text is none that means anything. Runs in anything since ES3, in strict code too, and throws nothing. */
function snippetFor(body: string, debugId: string): string {
  const directives = directivesOf(body).filter((directive) => !directive.includes("\\")).map((directive) => `${directive};`);
  const global = `typeof globalThis!="undefined"?globalThis:typeof self!="undefined"?self:window`;
  return `${directives.join("")}!function(){try{var g=${global},s=(new Error).stack;s&&((g._pharosDebugIds=g._pharosDebugIds||{})[s]="${debugId}")}catch(e){}}();`;
}

function withComment(script: string, debugId: string): string {
  const comments = closingComments(script);
  const line = `//# debugId=${debugId}`;
  if (comments.debugId) return script.slice(0, comments.debugId.start) + line + script.slice(comments.debugId.end);
  const at = comments.map?.start ?? script.length;
  const before = script.slice(0, at);
  return `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n${script.slice(at)}`;
}

function withDebugId(map: Record<string, unknown>, debugId: string, after: number): string | null {
  if (map["debugId"] === debugId && map[COUNTED] === true) return null;
  const { version, ...rest } = map[COUNTED] === true ? map : insertLine(map, after);
  const changed: Record<string, unknown> = { version, ...rest, debugId, [COUNTED]: true };
  if (changed["debug_id"] !== undefined) changed["debug_id"] = debugId;
  return JSON.stringify(changed);
}
