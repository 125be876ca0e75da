import { createHash } from "node:crypto";
import { lt, sql } from "drizzle-orm";
import type { Config } from "../../platform/config.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { dailyTexts } from "../../schemas/tables/all.ts";
import type { ClaimedChannel } from "./claim.ts";

/** Codes that a number gets in a day, of all organizations together. */
const CODES_A_DAY = 5;
const KEPT_MS = 2 * 86_400_000;

/**
 * Counts a text message before it is sent, by its organization and day (UTC); a code also by its number. Null when there is room, else the sentence that
 * says what is used up. Messages that fail count too: the gateway may have been paid.
 */
export async function takeText(database: Database, { organizationId, plan, config }: ClaimedChannel, isCode: boolean, limits: Config["SMS_PER_DAY"], at: Date): Promise<string | null> {
  return inTransaction(database, async (tx) => {
    const day = at.toISOString().slice(0, 10);
    const take = async (subject: string, most: number): Promise<boolean> => {
      const { rows } = await tx.execute(sql`
        insert into ${dailyTexts} as known (subject, day, sent) select ${subject}, ${day}::date, 1 where ${most}::int > 0
        on conflict (subject, day) do update set sent = known.sent + 1 where known.sent < ${most}::int returning 1`);
      return rows.length > 0;
    };
    const most = limits[plan];
    if (isCode && !(await take(`number ${createHash("sha256").update(config.phone_number ?? "").digest("hex")}`, CODES_A_DAY))) return `This number was sent ${CODES_A_DAY} codes today; it gets no more until tomorrow (UTC).`;
    if (await take(`organization ${organizationId}`, most)) return null;
    return most === 0 ? `The ${plan} plan sends no text messages.` : `The ${plan} plan sends ${most.toLocaleString("en")} text messages a day (UTC), and today's are used up.`;
  });
}

/** Forgets the days before yesterday. */
export async function forgetTexts(database: Database, now: Date): Promise<boolean> {
  await database.delete(dailyTexts).where(lt(dailyTexts.day, new Date(now.getTime() - KEPT_MS).toISOString().slice(0, 10)));
  return false;
}
