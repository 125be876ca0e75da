/** Stands at every so many bytes of a partition, at a record: the log is trimmed from mark to mark. */
export interface Mark {
  offset: number;
  /** When that record was appended, ms since the epoch. */
  at: number;
  /** Bytes of the partition before that record. */
  bytes: number;
}

export interface TrimmablePartition {
  marks: readonly Mark[];
  /** Every known group has read what is below; 0 when no group is known. */
  consumed: number;
}

export interface RetentionLimits {
  retentionBytes: number;
  retentionMs: number;
}

/** How many bytes lie between two marks, at least: fine enough for the limit, coarse enough to cost nothing. */
export function markEvery(retentionBytes: number): number {
  return Math.max(65_536, Math.min(1_048_576, Math.floor(retentionBytes / 64)));
}

/**
 * Pure: below which offset each partition may be cut, so that what all groups have consumed stays within bytes (over all
 * partitions, oldest first) and age. What some group has not consumed is never cut, nor what lies after the last mark.
 */
export function planCuts(partitions: readonly TrimmablePartition[], { retentionBytes, retentionMs }: RetentionLimits, now: number): number[] {
  const cuts = partitions.map(({ marks }) => marks[0]?.offset ?? 0);
  const stretches = partitions.flatMap(({ marks, consumed }, partition) =>
    marks.slice(1).flatMap((mark, index) => (mark.offset <= consumed ? [{ partition, upTo: mark.offset, until: mark.at, bytes: mark.bytes - marks[index]!.bytes }] : [])),
  );
  stretches.sort((a, b) => a.until - b.until || a.upTo - b.upTo);
  let kept = stretches.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { partition, upTo, until, bytes } of stretches) {
    if (kept <= retentionBytes && now - until <= retentionMs) continue;
    // A wall clock that was set back may break the order by time; a cut is one offset, so it takes all before it along.
    cuts[partition] = Math.max(cuts[partition]!, upTo);
    kept -= bytes;
  }
  return cuts;
}
