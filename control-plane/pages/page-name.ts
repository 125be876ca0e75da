import type { FastifyRequest } from "fastify";
import type { PageName } from "../../domain/status-pages/find-page.ts";

/** Which page a request is for, and below which path its parts stand. */
export interface NamedPage {
  name: PageName;
  /** `/pages/{slug}`, or empty below a custom domain. */
  base: string;
  /** `https://status.example.com`, as the visitor wrote it. */
  origin: string;
}

const SLUG = /^[a-z0-9-]{1,63}$/;
const HOST = /^[a-z0-9.-]{4,253}$/;

/** From the address `/pages/{slug}…`; null for a slug that cannot be one. */
export function pageOfSlug(slug: string, publicUrl: string): NamedPage | null {
  return SLUG.test(slug) ? { name: { slug }, base: `/pages/${slug}`, origin: publicUrl } : null;
}

/** From the host name that a visitor used; null where that is the service's own, or no name. */
export function pageOfHost({ headers: { host = "" } }: FastifyRequest, publicUrl: string): NamedPage | null {
  const name = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  const { hostname, protocol } = new URL(publicUrl);
  // A host name ends in letters: neither an address nor `localhost` can lead to a page.
  if (name === hostname || !HOST.test(name) || !/\.[a-z][a-z0-9-]*$/.test(name)) return null;
  return { name: { host: name }, base: "", origin: `${protocol}//${host.toLowerCase()}` };
}
