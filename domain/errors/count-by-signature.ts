import { isoMoment } from "./ask-clickhouse.ts";
import type { BriefRow } from "./brief-rows.ts";

/** What a batch adds to a signature that exists, named as the columns of `error_signatures`. */
export interface Increment {
  id: string;
  occurrences: number;
  /** Both ISO 8601. */
  first_seen: string;
  last_seen: string;
}

export interface Counted {
  increment: Increment;
  /** The earliest event of the batch. */
  first: BriefRow;
  /** As ClickHouse has it, by release: the last event in it. */
  lastSeenIn: Map<string, string>;
}

/** One entry for each signature; `aliases` says of what became part of another which that is. */
export function countBySignature(rows: BriefRow[], aliases: ReadonlyMap<string, string>): Map<string, Counted> {
  const groups = new Map<string, Counted>();
  for (const row of rows) {
    if (row.type === "vital") continue;
    const { occurred_at: occurredAt } = row;
    const id = aliases.get(row.signature_id) ?? row.signature_id;
    const group = groups.get(id);
    if (!group) {
      groups.set(id, { increment: { id, occurrences: 1, first_seen: occurredAt, last_seen: occurredAt }, first: row, lastSeenIn: new Map([[row.release, occurredAt]]) });
      continue;
    }
    const { increment, lastSeenIn } = group;
    increment.occurrences++;
    if (occurredAt < increment.first_seen) {
      increment.first_seen = occurredAt;
      group.first = row;
    }
    if (occurredAt > increment.last_seen) increment.last_seen = occurredAt;
    if (occurredAt > (lastSeenIn.get(row.release) ?? "")) lastSeenIn.set(row.release, occurredAt);
  }
  for (const { increment } of groups.values()) {
    increment.first_seen = isoMoment(increment.first_seen);
    increment.last_seen = isoMoment(increment.last_seen);
  }
  return groups;
}

/** Two counts of the same signature as one. */
export function joinCounted(one: Counted, other: Counted): Counted {
  const lastSeenIn = new Map(one.lastSeenIn);
  for (const [release, moment] of other.lastSeenIn) if (moment > (lastSeenIn.get(release) ?? "")) lastSeenIn.set(release, moment);
  const first = one.increment.first_seen <= other.increment.first_seen ? one : other;
  const lastSeen = one.increment.last_seen >= other.increment.last_seen ? one.increment.last_seen : other.increment.last_seen;
  const occurrences = one.increment.occurrences + other.increment.occurrences;
  return { increment: { ...first.increment, occurrences, last_seen: lastSeen }, first: first.first, lastSeenIn };
}

/** Of several releases in a batch the one that it was seen in last. */
export function lastRelease({ lastSeenIn }: Counted): string {
  return [...lastSeenIn].reduce((last, each) => (each[1] > last[1] ? each : last))[0];
}

/** One for each service and release would do; of neighbours with the same, the first is enough. */
export function releasesOf(rows: BriefRow[]) {
  const seen = new Map<string, BriefRow>();
  for (const row of rows) {
    if (row.release === "") continue;
    const key = `${row.service_id} ${row.release}`;
    const known = seen.get(key);
    // Moments of this shape compare as texts.
    if (!known || row.received_at < known.received_at) seen.set(key, row);
  }
  return [...seen.values()].map(({ organization_id: organizationId, service_id: serviceId, release, environment, received_at: receivedAt }) => ({ organizationId, serviceId, release, environment, seenAt: isoMoment(receivedAt) }));
}
