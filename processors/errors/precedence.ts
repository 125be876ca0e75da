export interface Precedence {
  /** Whether the consumer that goes first has more of a partition to read. */
  note(partition: number, behind: boolean): void;
  /** Resolves when nothing of it is left to read, and in any case after WAIT_MS. */
  turn(): Promise<void>;
}

/** So long a range of a flood waits for others at most, in ms: it keeps a share, however much there is to do. */
const WAIT_MS = 2_000;

/** Lets one consumer of this process go before another. */
export function makePrecedence(): Precedence {
  const behind = new Set<number>();
  const waiting = new Set<() => void>();

  return {
    note(partition, isBehind) {
      if (isBehind) behind.add(partition);
      else behind.delete(partition);
      if (behind.size > 0) return;
      for (const go of waiting) go();
    },
    turn() {
      if (behind.size === 0) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const timer = setTimeout(go, WAIT_MS);
        function go() {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        }
        waiting.add(go);
      });
    },
  };
}
