import type { FastifyRequest } from "fastify";
import type { PageName } from "../../../domain/status-pages/find-page.ts";

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

/** Finds out which page a request is for; `publicUrl` is the address that people use for the service itself. */
export function makePageNames(publicUrl: string): { ofSlug(slug: string): NamedPage | null; ofHost(request: FastifyRequest): NamedPage | null } {
  const { hostname, protocol } = new URL(publicUrl);
  return {
    // A slug that cannot be one is no page.
    ofSlug: (slug) => (SLUG.test(slug) ? { name: { slug }, base: `/pages/${slug}`, origin: publicUrl } : null),
    ofHost({ headers: { host = "" } }) {
      const name = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
      // A host name ends in letters: neither an address nor `localhost` can lead to a page; nor can the service's own name.
      if (name === hostname || !HOST.test(name) || !/\.[a-z][a-z0-9-]*$/.test(name)) return null;
      return { name: { host: name }, base: "", origin: `${protocol}//${host.toLowerCase()}` };
    },
  };
}
