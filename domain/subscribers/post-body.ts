import type { Happening } from "./happening.ts";
import type { PageLinks } from "./page-links.ts";

interface ToldPage {
  name: string;
}

interface Confirming {
  id: string;
  page: ToldPage;
  links: PageLinks;
  token: string;
  expiresAt: Date;
  at: Date;
}

/** What a webhook is sent to confirm that it wants to hear of a page. */
export function confirmationBody({ id, page, links, token, expiresAt, at }: Confirming): Record<string, unknown> {
  return { type: "subscription.confirm", id, timestamp: at.toISOString(), page: { name: page.name, url: links.page }, confirm_url: links.confirm(token), expires_at: expiresAt.toISOString() };
}

/** What a webhook that subscribed is sent of an event: the event's data, of its services those that the page shows. `id` is the event's, the same in each try. */
export function announcementBody({ page, links, happening, affected, token }: { page: ToldPage; links: PageLinks; happening: Happening; affected: string[]; token: string }): Record<string, unknown> {
  const { type, eventId, at, data } = happening;
  return { type, id: eventId, timestamp: at.toISOString(), page: { name: page.name, url: links.page }, url: links.happening(happening), data: { ...data, services: affected }, unsubscribe_url: links.own(token) };
}
