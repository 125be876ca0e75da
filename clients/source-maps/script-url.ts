import { homedir } from "node:os";

/**
 * What stands before the path of each script, with a slash at its end: `~/`, `~/static/`, `https://cdn.example/app/`; null when stacks could
 * not print an address that begins so. A shell writes an unquoted `~/static` out as a path below the home folder: it is put back.
 */
export function urlPrefixOf(text: string): string | null {
  const home = homedir();
  const prefix = text === home || text.startsWith(`${home}/`) ? `~${text.slice(home.length)}` : text;
  return /^(?:~$|~\/|(?:[a-z][a-z0-9+.-]+:)?\/\/)/i.test(prefix) ? prefix.replace(/\/*$/, "/") : null;
}

/** The address of a script as browsers print it; `path` is relative to the folder, with slashes. */
export function scriptUrl(prefix: string, path: string): string {
  const inUrl = path.replaceAll(/[%#?\\\s]/g, encodeURIComponent);
  return prefix + new URL(`http://x/${inUrl}`).pathname.slice(1);
}
