import type { Happening } from "./happening.ts";
import { neutralName } from "./neutral-name.ts";
import type { PageLinks } from "./page-links.ts";

interface ToldPage {
  name: string;
}

interface Confirming {
  id: string;
  page: ToldPage & { id: string };
  links: PageLinks;
  token: string;
  /** What this and all further requests to the webhook are signed with. */
  signingSecret: string;
  expiresAt: Date;
  at: Date;
}

/** What a webhook is sent to confirm that it wants to hear of a page. As in the mail, the page has no more than a neutral name. */
export function confirmationBody({ id, page, links, token, signingSecret, expiresAt, at }: Confirming): Record<string, unknown> {
  return { type: "subscription.confirm", id, timestamp: at.toISOString(), page: { id: page.id, name: neutralName(page) }, confirm_url: links.confirm(token), expires_at: expiresAt.toISOString(), signing_secret: signingSecret };
}

/** What a webhook that subscribed is sent of an event: the event's data, of its services those that the page shows. `id` is the event's, the same in each try. */
export function announcementBody({ page, links, happening, affected, token }: { page: ToldPage; links: PageLinks; happening: Happening; affected: string[]; token: string }): Record<string, unknown> {
  const { type, eventId, at, data } = happening;
  return { type, id: eventId, timestamp: at.toISOString(), page: { name: page.name, url: links.page }, url: links.happening(happening), data: { ...data, services: affected }, unsubscribe_url: links.own(token) };
}
