import { sql } from "drizzle-orm";
import { clientNetwork } from "../../platform/client-address.ts";
import { Failure } from "../../platform/failures.ts";
import type { Database, Transaction } from "../../platform/postgres/database.ts";
import { dailyAsks } from "../../schemas/tables/all.ts";
import { CONFIRMATIONS_A_DAY } from "../../schemas/plans.ts";
import type { Plan } from "../../schemas/vocabulary.ts";

/** What one client may ask for in a day at an organization's pages at most, however much its plan sends. */
const MOST_OF_CLIENT = 250;

/** What was sent, among the sources. */
const SENT = "*";

/** Rows that one deletion takes at most. */
const BATCH = 1_000;

interface Day {
  organizationId: string;
  plan: Plan;
  at: Date;
}

/** Pure: how many subscriptions one client may ask for in a day at an organization's pages: a tenth of what may be sent. */
function mostOfClient(plan: Plan): number {
  return Math.min(MOST_OF_CLIENT, CONFIRMATIONS_A_DAY[plan] / 10);
}

/** The network by which askers are told apart where somebody may have many: whoever has an IPv6 /64 often has its /48. */
export function askersNetwork(address: string): string {
  return clientNetwork(address, 48);
}

/**
 * Counts that a client asks, whatever comes of it. RATE_LIMITED when the client, of IPv6 its /64, has asked for its share of the day, or its
 * /48 for twice of that: so one of them cannot use up what the organization may send.
 */
export async function countAsk(tx: Transaction, day: Day, address: string): Promise<void> {
  const own = await raise(tx, day, { source: clientNetwork(address, 64), most: mostOfClient(day.plan) });
  const network = askersNetwork(address);
  const all = network === clientNetwork(address, 64) || (await raise(tx, day, { source: network, most: 2 * mostOfClient(day.plan) }));
  if (!own || !all) throw tomorrow("From your network too many subscriptions were asked for today.", day.at);
}

/** RATE_LIMITED when an organization's pages have sent what they may send in this day, so that nobody is told apart by it. */
export async function requireUnsent(tx: Transaction, { organizationId, plan, at }: Day): Promise<void> {
  const { rows } = await tx.execute<{ asks: number }>(sql`select asks from ${dailyAsks} where organization_id = ${organizationId} and day = ${dayOf(at)}::date and source = ${SENT}`);
  if ((rows[0]?.asks ?? 0) >= CONFIRMATIONS_A_DAY[plan]) throw allSent(at);
}

/** Counts a request to confirm that is sent. RATE_LIMITED as above. */
export async function countSent(tx: Transaction, day: Day): Promise<void> {
  if (!(await raise(tx, day, { source: SENT, most: CONFIRMATIONS_A_DAY[day.plan] }))) throw allSent(day.at);
}

/** Deletes counts of days that are over: a batch in one statement. Returns true when there may be more. */
export async function forgetOldAsks(database: Database, now: Date): Promise<boolean> {
  const { rowCount } = await database.execute(sql`
    delete from ${dailyAsks} where ctid = any (array(select ctid from ${dailyAsks} where day < ${dayOf(now)}::date - 1 limit ${BATCH} for update skip locked))`);
  return rowCount === BATCH;
}

/** Whether there was room for one more. */
async function raise(tx: Transaction, { organizationId, at }: Day, { source, most }: { source: string; most: number }): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    insert into ${dailyAsks} as counted (organization_id, day, source, asks) values (${organizationId}, ${dayOf(at)}::date, ${source}, 1)
    on conflict (organization_id, day, source) do update set asks = counted.asks + 1 where counted.asks < ${most}`);
  return rowCount === 1;
}

function allSent(at: Date): Failure {
  return tomorrow("This page takes no more subscriptions today.", at);
}

function tomorrow(sentence: string, at: Date): Failure {
  const day = 86_400_000;
  return new Failure("RATE_LIMITED", sentence, { retryAfter: Math.ceil((day - (at.getTime() % day)) / 1_000), fix: "Try again tomorrow." });
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
