import { and, count, eq, gt, ne, or, sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { subscribers } from "../../schemas/tables/all.ts";
import type { Plan, SubscriberKind } from "../../schemas/vocabulary.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import type { SubscriberAddress } from "./address.ts";
import { askersNetwork, countAsk, countSent, requireUnsent } from "./count-asks.ts";
import { decideAsk } from "./decide-ask.ts";
import { lockSubscribersPage, makePendingRoom, requirePageRoom } from "./page-room.ts";
import { sendConfirmation } from "./send-confirmation.ts";
import { newConfirmToken, newSecret } from "./tokens.ts";

const DAY_MS = 86_400_000;

/** How often the same mailbox, or the same host, is asked in a day over all pages. */
const TARGET_ASKS_A_DAY = { email: 10, webhook: 100 } as const;

/** How many of these one network may ask for: many people have webhooks on one host. */
const TARGET_ASKS_OF_NETWORK = { email: 10, webhook: 20 } as const;

interface Asking {
  page: StatusPageRow;
  kind: SubscriberKind;
  address: SubscriberAddress;
  /** Ids of services that the page shows; none for all. */
  services: string[];
  /** The address of the client that asks. */
  client: string;
  publicUrl: string;
  at: Date;
}

/**
 * Asks an address to confirm that it wants to hear of a page. What is known of the address changes nothing that its answer would show: an
 * active subscriber is asked like a stranger, and its services change when it confirms. One that was asked often enough is not asked again,
 * and nobody is told so. RATE_LIMITED when the client or the organization has used up its day; PLAN_LIMIT when the page is full.
 */
export async function askToSubscribe(database: Database, asking: Asking): Promise<void> {
  const { page, services, client, publicUrl, at } = asking;
  await inTransaction(database, async (tx) => {
    const plan = await lockSubscribersPage(tx, page.id);
    const day = { organizationId: page.organizationId, plan, at };
    await countAsk(tx, day, client);
    await requireUnsent(tx, day);
    await requirePageRoom(tx, page.id, plan);
    if (await wasAskedEnough(tx, asking)) return;
    const row = (await find(tx, asking)) ?? (await make(tx, asking, plan));
    const next = decideAsk(row, at);
    if (next === null) return;
    await countSent(tx, day);
    const { token, hash } = newConfirmToken();
    const confirmExpiresAt = new Date(at.getTime() + DAY_MS);
    await tx.update(subscribers).set({ ...next, wantedServices: services, confirmHash: hash, confirmExpiresAt, askedBy: askersNetwork(client), updatedAt: at }).where(eq(subscribers.id, row.id));
    await sendConfirmation(tx, { page, subscriber: row, token, expiresAt: confirmExpiresAt, publicUrl, at });
  });
}

/** Whether the mailbox or host behind the address was asked often enough by others of its subscriptions. */
async function wasAskedEnough(tx: Transaction, { page, kind, address, client, at }: Asking): Promise<boolean> {
  const [others] = await tx
    .select({ asked: count(), ofNetwork: sql<number>`count(*) filter (where ${subscribers.askedBy} = ${askersNetwork(client)})::int` })
    .from(subscribers)
    .where(and(eq(subscribers.target, address.target), gt(subscribers.lastAskedAt, new Date(at.getTime() - DAY_MS)), or(ne(subscribers.statusPageId, page.id), ne(subscribers.addressKey, address.key))));
  return others!.asked >= TARGET_ASKS_A_DAY[kind] || others!.ofNetwork >= TARGET_ASKS_OF_NETWORK[kind];
}

/** The address' row, locked until the transaction ends. */
async function find(tx: Transaction, { page, kind, address }: Asking) {
  const [row] = await tx
    .select()
    .from(subscribers)
    .where(and(eq(subscribers.statusPageId, page.id), eq(subscribers.kind, kind), eq(subscribers.addressKey, address.key)))
    .for("update");
  return row;
}

async function make(tx: Transaction, { page, kind, address, client, at }: Asking, plan: Plan) {
  await makePendingRoom(tx, page.id, { plan, at });
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
      askedBy: askersNetwork(client),
      createdAt: at,
      updatedAt: at,
    })
    .returning();
  return row!;
}
