import type { FastifyRequest } from "fastify";
import type { PageName } from "../../../domain/status-pages/find-page.ts";

/** Which page a request is for, and below which path its parts stand. */
export interface NamedPage {
  name: PageName;
  /** `/pages/{slug}`, or empty below a custom domain. */
  base: string;
  /** `https://status.example.com`: the page's own, whatever port or capitals the visitor wrote. */
  origin: string;
  /** The name by which the visitor found the service, where that is not the service's own; null too while the service has been given none. */
  host: string | null;
}

const SLUG = /^[a-z0-9-]{1,63}$/;
const HOST = /^[a-z0-9.-]{4,253}$/;

/**
 * Finds out which page a request is for. `own` is PUBLIC_URL, or null while the operator has set none; `publicUrl` is the address that
 * people use for the service itself; its scheme and port are those of all names.
 */
export function makePageNames(publicUrl: string, own: string | null): { ofSlug(slug: string, request: FastifyRequest): NamedPage | null; ofHost(request: FastifyRequest): NamedPage | null } {
  const { hostname, protocol, port } = new URL(publicUrl);
  const ownPort = port === "" ? "" : `:${port}`;

  /** A host name ends in letters: neither an address nor `localhost` can lead to a page; nor can the service's own name. */
  function foreignHost({ headers: { host = "" } }: FastifyRequest): string | null {
    const name = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
    return name === hostname || !HOST.test(name) || !/\.[a-z][a-z0-9-]*$/.test(name) ? null : name;
  }

  return {
    // A slug that cannot be one is no page.
    ofSlug: (slug, request) => (SLUG.test(slug) ? { name: { slug }, base: `/pages/${slug}`, origin: publicUrl, host: own === null ? null : foreignHost(request) } : null),
    ofHost(request) {
      const host = foreignHost(request);
      return host === null ? null : { name: { host }, base: "", origin: `${protocol}//${host}${ownPort}`, host };
    },
  };
}
