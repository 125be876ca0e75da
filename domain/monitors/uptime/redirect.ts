/** One request of a check: the first, or one that a redirect leads to. */
export interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * The request that a redirect asks for (RFC 9110 §15.4), or null for an address that is none. As browsers do, a POST becomes a GET unless the
 * redirect is a 307 or 308; and the monitor's headers, which may hold secrets, go to no other origin.
 */
export function nextHop({ url, method, headers, body }: Hop, status: number, location: string): Hop | null {
  const target = URL.parse(location, url);
  if (!target) return null;
  target.hash = "";
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  const kept = target.origin === url.origin ? headers : {};
  return becomesGet ? { url: target, method: "GET", headers: withoutContent(kept), body: null } : { url: target, method, headers: kept, body };
}

function withoutContent(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith("content-")));
}
