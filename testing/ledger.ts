import type { ClickHouse } from "../platform/clickhouse/port.ts";

/** What is known of an event that was sent. Only `acked` promises anything; the others may be stored once or not at all. */
const FATES = ["unsent", "acked", "refused", "unanswered"] as const;
export type Fate = Exclude<(typeof FATES)[number], "unsent">;

export interface Verdict {
  acked: number;
  /** Different events that are stored. */
  stored: number;
  /** Acked and not stored. */
  lost: number;
  /** Copies of an event beyond its first. */
  doubled: number;
  /** Answered with a refusal and stored all the same: allowed, since the refusal may have met a frame on its way. */
  refusedYetStored: number;
}

/** Numbers every event of a load and keeps what became of each: what was promised against what is stored. */
export interface Ledger {
  /** The message of all its events. */
  name: string;
  /** Numbers for so many new events: the first of them. */
  take(count: number): number;
  /** The mark by which an event is found again; it travels as the event's `url`. */
  markOf(number: number): string;
  settle(first: number, count: number, fate: Fate): void;
  /** Events with this fate so far. */
  count(fate: Fate): number;
  /** Compares with the rows of `beacon_events`. */
  judge(clickhouse: ClickHouse): Promise<Verdict>;
}

const PAGE = 100_000;

export function makeLedger(name: string): Ledger {
  let fates = new Uint8Array(PAGE);
  let taken = 0;
  const prefix = `https://ledger.example/${encodeURIComponent(name)}/`;
  return {
    name,
    take(count) {
      const first = taken;
      taken += count;
      while (taken > fates.length) {
        const larger = new Uint8Array(fates.length * 2);
        larger.set(fates);
        fates = larger;
      }
      return first;
    },
    markOf: (number) => `${prefix}${number}`,
    settle: (first, count, fate) => void fates.fill(FATES.indexOf(fate), first, first + count),
    count(fate) {
      const wanted = FATES.indexOf(fate);
      return fates.reduce((sum, each) => sum + Number(each === wanted), 0);
    },
    async judge(clickhouse) {
      const verdict: Verdict = { acked: 0, stored: 0, lost: 0, doubled: 0, refusedYetStored: 0 };
      for (let from = 0; from < taken; from += PAGE) {
        const copies = await copiesOf(clickhouse, prefix, from);
        const until = Math.min(from + PAGE, taken);
        for (let number = from; number < until; number++) weigh(verdict, FATES[fates[number]!]!, copies.get(number) ?? 0);
      }
      return verdict;
    },
  };
}

/** How often each event of one page is stored. */
async function copiesOf(clickhouse: ClickHouse, prefix: string, from: number): Promise<Map<number, number>> {
  const sql = `select toUInt32OrZero(substring(url, {skip:UInt32})) as number, toUInt32(count()) as copies from beacon_events
    where startsWith(url, {prefix:String}) and number >= {from:UInt32} and number < {until:UInt32} group by number`;
  const rows = await clickhouse.query<{ number: number; copies: number }>(sql, { prefix, skip: prefix.length + 1, from, until: from + PAGE }, { timeoutMs: 60_000 });
  return new Map(rows.map(({ number, copies }) => [number, copies]));
}

function weigh(verdict: Verdict, fate: (typeof FATES)[number], copies: number): void {
  if (fate === "acked") verdict.acked += 1;
  if (fate === "acked" && copies === 0) verdict.lost += 1;
  if (fate === "refused" && copies > 0) verdict.refusedYetStored += 1;
  if (copies > 0) verdict.stored += 1;
  verdict.doubled += Math.max(0, copies - 1);
}
