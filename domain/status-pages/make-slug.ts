import { isUuid } from "../../platform/ids.ts";

/** What a slug looks like (conventions §3). */
const MAX_LENGTH = 63;

/** A slug from a page's name: ASCII letters, digits and single hyphens, 3 to 63 characters. `page` when nothing is left. */
export function makeSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  // Pages are also found by their id, so no slug may look like one.
  if (slug.length >= 3 && !isUuid(slug)) return slug;
  return slug === "" ? "page" : `page-${slug}`;
}

/** A slug that is as good but most probably free: the same with a random end. */
export function varySlug(slug: string, random: string): string {
  return `${slug.slice(0, MAX_LENGTH - random.length - 1).replace(/-+$/, "")}-${random.toLowerCase()}`;
}
