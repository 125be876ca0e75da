import type { Look } from "../../../domain/status-pages/look.ts";
import { hashSource } from "./style.ts";

/** A host name may hold a semicolon, which would end the directive and begin another one. */
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/;

/**
 * What a status page may load (CSP level 3): the one style element it was drawn with, our own script, and from elsewhere no more than
 * the images and fonts that its owner's fields can name. Whatever slipped through sanitising can neither run nor send anything.
 */
export function pageSecurityPolicy(look: Look, style: string): string {
  const own = [look.css, look.headerHtml, look.footerHtml, look.template].some((each) => each !== null);
  const images = [look.logoUrl, look.faviconUrl].flatMap((url) => (url === null ? [] : [new URL(url).origin])).filter((origin) => ORIGIN.test(origin));
  return [
    "default-src 'none'",
    `style-src ${hashSource(style)}`,
    "script-src 'self'",
    "connect-src 'self'",
    `img-src ${[...new Set(["'self'", "data:", ...(own ? ["https:"] : []), ...images])].join(" ")}`,
    `font-src 'self'${own ? " https:" : ""}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join("; ");
}
