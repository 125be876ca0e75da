import type { Happening } from "./happening.ts";

/** Addresses of a page for those who subscribe to it. */
export interface PageLinks {
  page: string;
  /** What somebody is told of: an incident has a page of its own, a maintenance its place on the page. */
  happening(happening: Pick<Happening, "incident" | "data">): string;
  confirm(token: string): string;
  /** Where a subscriber leaves or chooses services; also takes the one click of RFC 8058. */
  own(token: string): string;
  /** Names the page's mails as one list (RFC 2919). */
  listId: string;
}

/**
 * `publicUrl` has no slash at its end. Pages are served there whether or not a domain of their own leads to them. Who is asked to confirm may
 * be a stranger to the page, so that link has the page's id and not the slug, which says what its owner wants it to say.
 */
export function pageLinks({ id, slug }: { id: string; slug: string }, publicUrl: string): PageLinks {
  const page = `${publicUrl}/pages/${slug}`;
  return {
    page,
    happening: ({ incident, data }) => `${page}${incident ? "/incidents/" : "#"}${String(data.id)}`,
    confirm: (token) => `${publicUrl}/pages/${id}/subscribers/confirm?token=${token}`,
    own: (token) => `${page}/subscribers/unsubscribe?token=${token}`,
    listId: `<${slug}.${new URL(publicUrl).hostname.replaceAll(/[[\]:]/g, "-")}>`,
  };
}
