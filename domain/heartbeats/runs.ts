import type { PingMemory } from "../../schemas/tables/heartbeats.ts";

/** More runs in progress than this are not remembered, and so many names of runs that are over; the oldest go first. */
const REMEMBERED = 20;

type OpenRun = PingMemory["open"][number];

/** Whether a named run ended so shortly before that its name cannot mean another one yet: `soonMs` is half a turn of the schedule. */
export function endedLately({ over }: PingMemory, runId: string, at: number, soonMs: number): PingMemory["over"][number] | null {
  const run = over.find(({ id }) => id === runId);
  return run && at < run.finishedAt + soonMs ? run : null;
}

/**
 * A run is in progress. The start of one without a name takes the place of another such. A name that is in progress keeps its first
 * start when it comes again within `soonMs`: then its ping was sent again.
 */
export function openRun(memory: PingMemory, runId: string | null, startedAt: number, soonMs: number): PingMemory {
  const known = runId === null ? undefined : memory.open.find(({ id }) => id === runId);
  if (known && startedAt >= known.startedAt && startedAt < known.startedAt + soonMs) return memory;
  const others = memory.open.filter(({ id }) => id !== runId);
  const open = [...others, { id: runId, startedAt }].toSorted((a, b) => a.startedAt - b.startedAt).slice(-REMEMBERED);
  return { ...memory, open, over: memory.over.filter(({ id }) => id !== runId) };
}

/**
 * A run is over; `run` is the one that was in progress, null when its start is not known. A finish without a name ends the run without a name,
 * or the only one there is; one with a name that never began ends the run without a name, whose sender named only its end.
 */
export function closeRun(memory: PingMemory, runId: string | null, status: "ok" | "fail", finishedAt: number): { memory: PingMemory; run: OpenRun | null } {
  const { open } = memory;
  const run = open.find(({ id }) => id === runId) ?? (runId === null ? (open.length === 1 ? open[0]! : null) : (open.find(({ id }) => id === null) ?? null));
  // The job goes on without one that was given up before this began.
  const left = open.filter((each) => each !== run && !(status === "ok" && run && each.overrun !== undefined && each.overrun < run.startedAt));
  const name = runId ?? run?.id ?? null;
  const over = name === null ? memory.over : [...memory.over.filter(({ id }) => id !== name), { id: name, status, finishedAt }].toSorted((a, b) => a.finishedAt - b.finishedAt).slice(-REMEMBERED);
  return { memory: { ...memory, open: left, over }, run };
}

/** The start that counts for the limit: the earliest of those in progress that were not yet found to exceed it. */
export function earliestStart({ open }: PingMemory): number | null {
  return open.find(({ overrun }) => overrun === undefined)?.startedAt ?? null;
}

/** Marks the runs that took longer than `limitMs` by `at`; they are told of once. */
export function markOverrun(memory: PingMemory, limitMs: number, at: number): PingMemory {
  return { ...memory, open: memory.open.map((run) => (run.overrun === undefined && run.startedAt + limitMs < at ? { ...run, overrun: at } : run)) };
}

/** Since when a run is in progress, as the API shows it, and whether one has exceeded its limit. */
export function showRuns({ open }: PingMemory): { running_since: string | null; run_exceeded: boolean } {
  return { running_since: open[0] ? new Date(open[0].startedAt).toISOString() : null, run_exceeded: open.some(({ overrun }) => overrun !== undefined) };
}
