import { clientNetwork } from "../../platform/client-address.ts";
import { Failure } from "../../platform/failures.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { CONFIRMATIONS_A_DAY } from "../../schemas/plans.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { raiseDayCount, readDayCount, secondsUntilTomorrow } from "../day-counts.ts";

/** What one client may ask for in a day at an organization's pages at most, however much its plan sends. */
const MOST_OF_CLIENT = 250;

/** What was sent, beside the networks that asked. */
const SENT = "confirmations";

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
  const own = await raiseDayCount(tx, { ...day, subject: clientNetwork(address, 64), most: mostOfClient(day.plan) });
  const network = askersNetwork(address);
  const all = network === clientNetwork(address, 64) || (await raiseDayCount(tx, { ...day, subject: network, most: 2 * mostOfClient(day.plan) }));
  if (!own || !all) throw tomorrow("From your network too many subscriptions were asked for today.", day.at);
}

/** RATE_LIMITED when an organization's pages have sent what they may send in this day, so that nobody is told apart by it. */
export async function requireUnsent(tx: Transaction, { organizationId, plan, at }: Day): Promise<void> {
  if ((await readDayCount(tx, { organizationId, at, subject: SENT })) >= CONFIRMATIONS_A_DAY[plan]) throw allSent(at);
}

/** Counts a request to confirm that is sent. RATE_LIMITED as above. */
export async function countSent(tx: Transaction, day: Day): Promise<void> {
  if (!(await raiseDayCount(tx, { ...day, subject: SENT, most: CONFIRMATIONS_A_DAY[day.plan] }))) throw allSent(day.at);
}

function allSent(at: Date): Failure {
  return tomorrow("This page takes no more subscriptions today.", at);
}

function tomorrow(sentence: string, at: Date): Failure {
  return new Failure("RATE_LIMITED", sentence, { retryAfter: secondsUntilTomorrow(at), fix: "Try again tomorrow." });
}
