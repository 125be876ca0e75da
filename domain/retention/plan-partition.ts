const DAY_MS = 86_400_000;

/**
 * Rows younger than this are never deleted by retention, whatever an organization asks for: consumers read what stands above their cursors,
 * event ids are looked up for an hour, and the last hours are what people look at.
 */
const LEAST_DAYS = 2;

/** How long rows are kept whose organization or service Postgres does not know: it may have been restored and lack what was made since. */
export const MOST_DAYS = 730;

/** The moment before which rows go, in ms: the beginning of a day (UTC), so that one day's work finds nothing to do a second time. */
export function cutoffOf(days: number, now: Date): number {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return today - Math.max(days, LEAST_DAYS) * DAY_MS;
}

/** The first and the first moment after a partition by month (`202601`), in ms; one by anything else has no bounds. */
export function partitionBounds(partitionId: string): { from: number; until: number } {
  const [, year, month] = /^(\d{4})(\d{2})$/.exec(partitionId) ?? [];
  if (year === undefined || month === undefined) return { from: -Infinity, until: Infinity };
  return { from: Date.UTC(Number(year), Number(month) - 1), until: Date.UTC(Number(year), Number(month)) };
}

/** Rows of these holders that are older than `before` (ms) go. */
export interface ExpiredRows {
  before: number;
  holders: string[];
}

export type PartitionPlan = { kind: "keep" } | { kind: "drop" } | { kind: "delete"; expired: ExpiredRows[] };

interface PartitionFacts {
  partitionId: string;
  /** Whose rows it holds (organizations, or services where rows name none), and when the oldest row of each is from, in ms. */
  holders: { id: string; oldest: number }[];
  /** Days for which each is kept. */
  days: ReadonlyMap<string, number>;
  now: Date;
}

/**
 * What is to be done with one partition. It is dropped, which costs nothing, when its month is over for everybody who has rows in it; else the
 * holders with rows that are too old are named, together when they have the same bound.
 */
export function planPartition({ partitionId, holders, days, now }: PartitionFacts): PartitionPlan {
  const { until } = partitionBounds(partitionId);
  const bounds = holders.map(({ id, oldest }) => ({ id, oldest, before: cutoffOf(days.get(id) ?? MOST_DAYS, now) }));
  // By the month's end and not by the youngest row: what comes late into a month that is over is too old as well.
  if (bounds.length > 0 && bounds.every(({ before }) => until <= before)) return { kind: "drop" };
  const expired = new Map<number, string[]>();
  for (const { id, oldest, before } of bounds) if (oldest < before) expired.set(before, [...(expired.get(before) ?? []), id]);
  if (expired.size === 0) return { kind: "keep" };
  return { kind: "delete", expired: [...expired].map(([before, ids]) => ({ before, holders: ids })) };
}
