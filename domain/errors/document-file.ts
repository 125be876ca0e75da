/** Stands for the file of code in a page itself. */
export const DOCUMENT = "<document>";

const PAGE_SCHEMES = ["http://", "https://", "file://"];
/** What the files of scripts end with, bundles of mobile applications and what is compiled included. */
const SCRIPT_ENDING = /\.(?:[cm]?jsx?|[cm]?tsx?|es6|vue|svelte|astro|coffee|wasm|bundle|jsbundle|hbc|map)$/i;

/**
 * Whether a frame's file is a page rather than a script: an address whose path does not end as
 * scripts do. The same code in a page is reported under as many addresses as the page has.
 */
export function isDocument(file: string): boolean {
  const scheme = PAGE_SCHEMES.find((each) => file.startsWith(each));
  if (scheme === undefined) return false;
  const end = file.search(/[?#]/);
  const path = end === -1 ? file : file.slice(0, end);
  // Expo writes a query without its question mark.
  if (path.includes("//&", scheme.length)) return false;
  return !SCRIPT_ENDING.test(path.slice(path.lastIndexOf("/") + 1)) || !path.includes("/", scheme.length);
}
