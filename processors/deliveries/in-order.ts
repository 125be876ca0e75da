import { setTimeout as pause } from "node:timers/promises";

/** Begins work, when its turn has come; answers with what it brought. */
export type InOrder = <T>(line: string, work: () => Promise<T>) => Promise<T>;

/**
 * Lets works of one line begin in the order in which they are given: each when the one before it has ended, or has taken `patienceMs`, so that
 * one that hangs keeps the others waiting for a moment only.
 */
export function makeInOrder(patienceMs: number): InOrder {
  /** Of each line, when the next may begin. */
  const turns = new Map<string, Promise<void>>();

  return (line, work) => {
    const begun = (turns.get(line) ?? Promise.resolve()).then(() => ({ running: work() }));
    const next = begun.then(({ running }) => endedOr(patienceMs, running)).finally(() => {
      if (turns.get(line) === next) turns.delete(line);
    });
    turns.set(line, next);
    return begun.then(({ running }) => running);
  };
}

async function endedOr(patienceMs: number, running: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const ended = running.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, pause(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
