/** Where a page's parts stand. */
export interface PageAddresses {
  home: string;
  /** `month` is `YYYY-MM`; without it the latest. */
  history(month?: string): string;
  incident(id: string): string;
  rss: string;
  atom: string;
  jsonFeed: string;
  calendar: string;
  badge: string;
  summary: string;
  unlock: string;
}

interface Place {
  /** Such as `https://status.example.com`; empty for addresses on the page's own host. */
  origin: string;
  /** `/pages/{slug}`, or empty below a custom domain. */
  base: string;
  /** What a link to a private page carries, which its inner links carry on; null for none. */
  access: string | null;
  /** The language that the visitor chose on the page, likewise. */
  lang?: string | null;
}

/** The addresses of one page. Pure. */
export function pageAddresses({ origin, base, access, lang = null }: Place): PageAddresses {
  const at = (path: string, query: Record<string, string> = {}) => {
    const all = new URLSearchParams({ ...query, ...(access !== null && { access }), ...(lang !== null && { lang }) }).toString();
    return `${origin}${base}${path}${all === "" ? "" : `?${all}`}`;
  };
  return {
    home: at(base === "" ? "/" : ""),
    history: (month) => at("/history", month === undefined ? {} : { month }),
    incident: (id) => at(`/incidents/${id}`),
    rss: at("/feed.rss"),
    atom: at("/feed.atom"),
    jsonFeed: at("/feed.json"),
    calendar: at("/maintenance.ics"),
    badge: at("/badge.svg"),
    summary: at("/summary.json"),
    unlock: at("/unlock"),
  };
}
