import { and, count, eq, gt, ne, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { SUBSCRIBERS } from "../../schemas/plans.ts";
import { organizations, subscribers } from "../../schemas/tables/all.ts";
import type { SubscriberKind } from "../../schemas/vocabulary.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import type { SubscriberAddress } from "./address.ts";
import { decideAsk } from "./decide-ask.ts";
import { sendConfirmation } from "./send-confirmation.ts";
import { newConfirmToken, newSecret } from "./tokens.ts";

const DAY_MS = 86_400_000;

/** Addresses that one page asks in a day. */
const PAGE_ASKS_A_DAY = 1_000;

/** Pages that ask the same mailbox, or the same host, in a day. */
const TARGET_ASKS_A_DAY = { email: 10, webhook: 100 } as const;

interface Asking {
  page: StatusPageRow;
  kind: SubscriberKind;
  address: SubscriberAddress;
  /** Ids of services that the page shows; none for all. */
  services: string[];
  publicUrl: string;
  at: Date;
}

/**
 * Asks an address to confirm that it wants to hear of a page. What is known of the address changes nothing that its answer or the work
 * would show: an active subscriber is asked like a stranger, and its services change when it confirms. One that was asked often enough
 * is not asked again, and nobody is told so. RATE_LIMITED when the page has asked too many in this day; PLAN_LIMIT when its organization has
 * as many subscribers as its plan allows.
 */
export async function askToSubscribe(database: Database, asking: Asking): Promise<void> {
  const { page, kind, address, services, publicUrl, at } = asking;
  const dayAgo = new Date(at.getTime() - DAY_MS);
  await inTransaction(database, async (tx) => {
    const ofPage = await tx.$count(subscribers, and(eq(subscribers.statusPageId, page.id), gt(subscribers.lastAskedAt, dayAgo)));
    if (ofPage >= PAGE_ASKS_A_DAY) throw new Failure("RATE_LIMITED", "This page takes no more subscriptions today.", { retryAfter: 3_600, fix: "Try again tomorrow." });
    await requirePlace(tx, page.organizationId);
    const row = await findOrMake(tx, asking);
    const [others] = await tx
      .select({ asked: count() })
      .from(subscribers)
      .where(and(eq(subscribers.target, address.target), gt(subscribers.lastAskedAt, dayAgo), ne(subscribers.id, row.id)));
    const next = others!.asked >= TARGET_ASKS_A_DAY[kind] ? null : decideAsk(row, at);
    if (next === null) return;
    const { token, hash } = newConfirmToken();
    const confirmExpiresAt = new Date(at.getTime() + DAY_MS);
    await tx.update(subscribers).set({ ...next, wantedServices: services, confirmHash: hash, confirmExpiresAt, updatedAt: at }).where(eq(subscribers.id, row.id));
    await sendConfirmation(tx, { page, kind, subscriberId: row.id, address: row.address, token, expiresAt: confirmExpiresAt, publicUrl, at });
  });
}

/** Whoever asks, known or not: the answer tells nothing of an address. */
async function requirePlace(tx: Transaction, organizationId: string): Promise<void> {
  const active = tx.$count(subscribers, and(eq(subscribers.organizationId, organizationId), sql`state = 'active'`));
  const [organization] = await tx.select({ plan: organizations.plan, active }).from(organizations).where(eq(organizations.id, organizationId));
  if (organization && organization.active >= SUBSCRIBERS[organization.plan]) throw new Failure("PLAN_LIMIT", "This page takes no more subscriptions.", { fix: "Follow its feed, or ask its owner." });
}

/** The address' row, locked until the transaction ends: of asks that race one is sent. */
async function findOrMake(tx: Transaction, { page, kind, address, at }: Asking) {
  const [row] = await tx
    .insert(subscribers)
    .values({
      id: newId(),
      organizationId: page.organizationId,
      statusPageId: page.id,
      kind,
      address: address.address,
      addressKey: address.key,
      target: address.target,
      secret: newSecret(),
      asksSince: at,
      lastAskedAt: at,
      createdAt: at,
      updatedAt: at,
    })
    .onConflictDoUpdate({ target: [subscribers.statusPageId, subscribers.kind, subscribers.addressKey], set: { asks: sql`${subscribers.asks}` } })
    .returning();
  return row!;
}
