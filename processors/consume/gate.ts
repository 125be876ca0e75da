/** Lets batches run side by side, and a takeover alone. */
export interface Gate {
  /** Resolves when no takeover runs; `leave` must follow. */
  enter(): Promise<void>;
  leave(): void;
  /** Waits until everybody has left, and keeps everybody out until `work` has ended. Calls of it follow one another. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** An open gate. */
export function makeGate(): Gate {
  let inside = 0;
  /** Resolves when the one who is alone inside has ended. */
  let closed: Promise<void> | null = null;
  let emptied = (): void => undefined;

  return {
    async enter() {
      // Whoever waited looks once more: another one may have closed the gate in the same turn.
      for (;;) {
        if (closed === null) break;
        await closed;
      }
      inside++;
    },
    leave() {
      inside--;
      if (inside === 0) emptied();
    },
    async alone(work) {
      // Awaited in any case: work never begins before the caller has the promise.
      await Promise.resolve();
      for (;;) {
        if (closed === null) break;
        await closed;
      }
      let open = (): void => undefined;
      closed = new Promise((resolve) => (open = resolve));
      try {
        if (inside > 0) await new Promise<void>((resolve) => (emptied = resolve));
        return await work();
      } finally {
        closed = null;
        open();
      }
    },
  };
}
