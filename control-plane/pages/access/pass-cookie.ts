import { PASS_SECONDS } from "../../../domain/status-pages/page-pass.ts";

interface GivenPass {
  page: { id: string };
  pass: string;
  /** Where the page stands on its host: `/pages/{slug}`, or empty for all of it. */
  base: string;
  /** Whether the visitor speaks https: over http a browser would throw a secure cookie away. */
  secure: boolean;
}

/** The `Set-Cookie` of a page's pass: no script reads it, no other site's form or frame sends it, and no other page below the same host gets it. */
export function passCookie({ page, pass, base, secure }: GivenPass): string {
  const attributes = [`Path=${base === "" ? "/" : base}`, `Max-Age=${PASS_SECONDS}`, "HttpOnly", "SameSite=Lax", ...(secure ? ["Secure"] : [])];
  return [`${nameOf(page)}=${pass}`, ...attributes].join("; ");
}

/** The pass for a page in a `Cookie` header (RFC 6265, 4.2); the first, when there are several. Null for none. */
export function passIn(header: string | undefined, page: { id: string }): string | null {
  const start = `${nameOf(page)}=`;
  const found = (header ?? "").split(";").map((pair) => pair.trim()).find((pair) => pair.startsWith(start));
  return found === undefined ? null : found.slice(start.length);
}

/** A name for each page: an address may lead to another page tomorrow. */
function nameOf({ id }: { id: string }): string {
  return `pharos_page_${id.slice(0, 8)}`;
}
