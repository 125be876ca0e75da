import { cutWhole } from "../cut-whole.ts";

/** Characters of a page's name that somebody is shown who did not ask for it. */
const MOST_SHOWN = 60;

/** Dots of all scripts that a host name may be written with (UTS #46). */
const DOTS = /[。．｡]/g;

/** A word that a mail program may make a link of: with a scheme, a path, an @, or a dot between letters. */
const LINKED = /:\/\/|[/\\@]|www\.|[\p{L}\p{N}]\.[\p{L}\p{N}]*\p{L}|^[a-z][a-z+.-]*:\S/iu;

/**
 * Pure: a page's name for somebody who does not know the page yet. Whoever made the page chose it, so it must not say where to go: words that
 * look like an address are left out, invisible characters become blanks, and what is long is cut. When nothing is left it
 * is the beginning of the page's id.
 */
export function neutralName({ id, name }: { id: string; name: string }): string {
  const plain = name.normalize("NFKC").replaceAll(DOTS, ".").replaceAll(/[\p{C}\p{Z}]+/gu, " ");
  const words = plain.split(" ").filter((word) => word !== "" && !LINKED.test(word));
  return words.length === 0 ? id.slice(0, 8) : cutWhole(words.join(" "), MOST_SHOWN);
}
