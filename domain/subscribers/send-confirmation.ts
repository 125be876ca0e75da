import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { subscribers } from "../../schemas/tables/all.ts";
import { queueSubscribersMails } from "../mail/queue-mail.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { confirmationMail } from "./compose-mail.ts";
import { pageLinks } from "./page-links.ts";
import { confirmationBody } from "./post-body.ts";
import { queuePosts } from "./queue-posts.ts";
import { subscribersSigningSecret } from "./tokens.ts";

interface Confirmation {
  page: StatusPageRow;
  subscriber: typeof subscribers.$inferSelect;
  token: string;
  expiresAt: Date;
  publicUrl: string;
  at: Date;
}

/** Puts the mail or the request that asks for a confirmation on its way. */
export async function sendConfirmation(tx: Transaction, { page, subscriber, token, expiresAt, publicUrl, at }: Confirmation): Promise<void> {
  const { organizationId } = page;
  const { id: subscriberId, kind, address, secret } = subscriber;
  const links = pageLinks(page, publicUrl);
  if (kind === "email") {
    await queueSubscribersMails(tx, [{ organizationId, kind: "confirmation", subscriberId, to: address, ...confirmationMail({ page, links, token }), at }]);
    return;
  }
  const body = confirmationBody({ id: newId(), page, links, token, signingSecret: subscribersSigningSecret(secret), expiresAt, at });
  await queuePosts(tx, [{ organizationId, subscriberId, eventId: null, body, at }]);
}
