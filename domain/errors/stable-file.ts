import { hasLongWords, hasOnlyWords, isPlainName, readsLikeName } from "./word-like.ts";

/**
 * A file's name as it stays from build to build and host to host: the path without scheme, host, query and content
 * hash. `https://x/assets/app-3f2a9c1b.js?v=2` → `/assets/app.js`; a folder or name that is all hash, or a folder that is
 * a full version or Next.js's build, becomes `*`.
 */
export function stableFile(file: string): string {
  const steps = pathOf(file).replaceAll("\\", "/").split("/");
  const name = steps.pop()!;
  return [...steps.map((step, at) => (isNextBuild(steps, at) ? "*" : stableFolder(step))), stableName(name)].join("/");
}

function pathOf(file: string): string {
  if (file.startsWith("data:")) return "data:";
  const end = file.search(/[?#]/);
  // Expo writes a query without its question mark: `/index.bundle//&platform=ios`.
  const text = (end === -1 ? file : file.slice(0, end)).split("//&", 1)[0]!;
  const scheme = text.indexOf("://");
  if (scheme === -1) return text;
  const path = text.indexOf("/", scheme + 3);
  return path === -1 ? "/" : text.slice(path);
}

/** `1.2.3`, `v1.2.3-rc.1`: such a folder changes with every release. `v1` stays: an interface is called so. */
const RELEASE = /^v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+.][\w.+-]*)?$/;
const PACKAGE_VERSION = /^v?\d{1,9}(?:\.\d{1,9}){0,3}(?:[-+.][\w.+-]*)?$/;

function stableFolder(step: string): string {
  if (isHash(step) || RELEASE.test(step)) return "*";
  const at = step.lastIndexOf("@");
  return at > 0 && PACKAGE_VERSION.test(step.slice(at + 1)) ? `${step.slice(0, at)}@*` : step;
}

const NEXT_FOLDERS = new Set(["chunks", "css", "media", "development", "webpack", "runtime", "pages"]);

/** The folder below `_next/static` that carries the build's id, which can be any text. */
function isNextBuild(steps: string[], at: number): boolean {
  return at >= 2 && steps[at - 1] === "static" && steps[at - 2] === "_next" && !NEXT_FOLDERS.has(steps[at]!);
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const UUID_ALONE = new RegExp(`^${UUID}$`, "i");
const UUID_IN_NAME = new RegExp(`[-._~]${UUID}(?=[-._~]|$)`, "gi");
/** Turbopack: `src_app_page_tsx_1a2b3c._.js`. Six digits or letters are no hash elsewhere. */
const TURBOPACK_HASH = /_[0-9a-f]{6}(?=\._\.js$)/;

/** A file name without its hash, which stands between dots, dashes or underscores. */
function stableName(name: string): string {
  const dot = name.indexOf(".");
  const stem = dot === -1 ? name : name.slice(0, dot);
  if (isHash(stem) || isBase64Hash(stem)) return `*${name.slice(stem.length)}`;
  return withoutTokens(withoutBase64Hash(name.replace(UUID_IN_NAME, "").replace(TURBOPACK_HASH, "")));
}

function withoutTokens(name: string): string {
  const extension = name.lastIndexOf(".");
  let kept = "";
  let start = 0;
  for (let at = 0; at <= name.length; at++) {
    const end = at === name.length || ".-_~".includes(name[at]!);
    if (!end) continue;
    const separator = start === 0 ? "" : name[start - 1]!;
    const token = name.slice(start, at);
    if (start === 0 || !(isHash(token) || (at === extension && isTrailingHash(token)))) kept += separator + token;
    start = at + 1;
  }
  return kept;
}

/** Rollup's and Vite's hash is base64url, eight characters that can hold the very separators: `index-Bv3_Y-aK.js`, `start.D_k-2xQz.js`. */
function withoutBase64Hash(name: string): string {
  for (let dot = name.indexOf("."), looks = 0; looks < 4; dot = name.indexOf(".", dot + 1), looks++) {
    const end = dot === -1 ? name.length : dot;
    const start = end - 8;
    if (start >= 2 && "-.".includes(name[start - 1]!) && isBase64Hash(name.slice(start, end))) return name.slice(0, start - 1) + name.slice(end);
    if (dot === -1) break;
  }
  return name;
}

/** Eight characters of base64url with a dash or an underscore among them; `isHash` knows those without. */
function isBase64Hash(text: string): boolean {
  if (text.length !== 8 || !/^[\w-]+$/.test(text) || !/[-_]/.test(text)) return false;
  if (unnaturalTurns(text) >= 3 && /[0-9]/.test(text)) return true;
  // `my-Pages` is made of words, `Bv_Y-aKq` is not.
  return /[A-Z]/.test(text) && /[a-z0-9]/.test(text) && !text.split(/[-_]/).every(isPlainName);
}

/**
 * Whether a text without separators is a content hash, a UUID or a build's timestamp rather than a word:
 * hex as webpack, Parcel and Next.js write it, base 32 as esbuild does, base 36 as Bun does, base 62 and 64 as Rollup does.
 */
function isHash(text: string): boolean {
  const { length } = text;
  if (length < 6 || length > 128) return false;
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text)) return length >= 8 || (/[0-9]/.test(text) && /[a-f]/i.test(text));
  if (UUID_ALONE.test(text)) return true;
  if (length < 8 || !/^[0-9A-Za-z]+$/.test(text)) return false;
  if (length > 8) return unnaturalTurns(text) >= 3 && !hasLongWords(text);
  return isShortHash(text) && !readsLikeName(text);
}

/** A name's last part is where bundlers put the hash: eight characters there need less to be one. */
function isTrailingHash(text: string): boolean {
  if (text.length !== 8 || !/^[0-9A-Za-z]+$/.test(text)) return false;
  if (/^[A-Z2-7]+$/.test(text)) return true;
  if (isPlainName(text)) return false;
  return isShortHash(text) || (/[A-Z]/.test(text) && /[a-z]/.test(text) && !hasOnlyWords(text));
}

/** Eight letters and digits, mixed as in no single word. */
function isShortHash(text: string): boolean {
  if (/^[A-Z2-7]+$/.test(text)) return true;
  if (/[a-z]/.test(text) && /[A-Z]/.test(text)) return unnaturalTurns(text) >= 1;
  return /[0-9]/.test(text) && (unnaturalTurns(text) >= 3 || !hasOnlyWords(text));
}

/** Turns between lower case, upper case and digits that words do not make; `Html5Parser` has two, `Bv3xYaK9` five. */
function unnaturalTurns(text: string): number {
  let turns = 0;
  let before = "";
  for (const character of text) {
    const now = kindOf(character);
    if (before !== "" && now !== "" && now !== before && !(before === "upper" && now === "lower")) turns++;
    before = now;
  }
  return turns;
}

function kindOf(character: string): "lower" | "upper" | "digit" | "" {
  if (character >= "a" && character <= "z") return "lower";
  if (character >= "A" && character <= "Z") return "upper";
  return character >= "0" && character <= "9" ? "digit" : "";
}
