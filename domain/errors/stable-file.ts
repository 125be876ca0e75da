/**
 * A file's name as it stays from build to build and host to host: the path without scheme, host, query and content
 * hash. `https://x/assets/app-3f2a9c1b.js?v=2` → `/assets/app.js`; a folder or name that is all hash becomes `*`.
 */
export function stableFile(file: string): string {
  const steps = pathOf(file).replaceAll("\\", "/").split("/");
  const name = steps.pop()!;
  return [...steps.map((step) => (isHash(step) ? "*" : step)), stableName(name)].join("/");
}

function pathOf(file: string): string {
  if (file.startsWith("data:")) return "data:";
  const end = file.search(/[?#]/);
  const text = end === -1 ? file : file.slice(0, end);
  const scheme = text.indexOf("://");
  if (scheme === -1) return text;
  const path = text.indexOf("/", scheme + 3);
  return path === -1 ? "/" : text.slice(path);
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const UUID_ALONE = new RegExp(`^${UUID}$`, "i");
const UUID_IN_NAME = new RegExp(`[-._~]${UUID}(?=[-._~]|$)`, "gi");

/** A file name without its hash, which stands between dots, dashes or underscores. */
function stableName(name: string): string {
  const dot = name.indexOf(".");
  const stem = dot === -1 ? name : name.slice(0, dot);
  if (isHash(stem)) return `*${name.slice(stem.length)}`;
  return withoutTokens(withoutRollupHash(name.replace(UUID_IN_NAME, "")));
}

function withoutTokens(name: string): string {
  let kept = "";
  let start = 0;
  for (let at = 0; at <= name.length; at++) {
    const end = at === name.length || ".-_~".includes(name[at]!);
    if (!end) continue;
    const separator = start === 0 ? "" : name[start - 1]!;
    const token = name.slice(start, at);
    if (start === 0 || !isHash(token)) kept += separator + token;
    start = at + 1;
  }
  return kept;
}

/** Rollup's and Vite's hash is base64url, eight characters that can hold the very separators: `index-Bv3_Y-aK.js`. */
function withoutRollupHash(name: string): string {
  const dot = name.indexOf(".");
  const end = dot === -1 ? name.length : dot;
  const start = end - 8;
  if (start < 2 || name[start - 1] !== "-") return name;
  const candidate = name.slice(start, end);
  const random = /[-_]/.test(candidate) && /[A-Z]/.test(candidate) && /[a-z0-9]/.test(candidate) && unnaturalTurns(candidate) >= 1;
  return random ? name.slice(0, start - 1) + name.slice(end) : name;
}

/**
 * Whether a text without separators is a content hash, a UUID or a build's timestamp rather than a word:
 * hex as webpack, Parcel and Next.js write it, base 32 as esbuild does, base 62 and 64 as Rollup does.
 */
function isHash(text: string): boolean {
  const { length } = text;
  if (length < 6 || length > 128) return false;
  if (/^[0-9a-f]+$/i.test(text)) return length >= 8 || (/[0-9]/.test(text) && /[a-f]/i.test(text));
  if (UUID_ALONE.test(text)) return true;
  if (length < 8 || !/^[0-9A-Za-z]+$/.test(text)) return false;
  if (length === 8 && /^[A-Z2-7]+$/.test(text)) return true;
  const mixedCase = /[a-z]/.test(text) && /[A-Z]/.test(text);
  if (length === 8 && mixedCase) return unnaturalTurns(text) >= 1;
  return unnaturalTurns(text) >= 3 && /[0-9]/.test(text);
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
