export interface Bell {
  ring(): void;
  /** Until it rings, at most so many ms. */
  wait(milliseconds: number): Promise<void>;
}

/** A wait that can be cut short; a ring while nobody waits cuts the next one. */
export function makeBell(): Bell {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      if (wake) wake();
      else rung = true;
    },
    async wait(milliseconds) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wake = null;
      rung = false;
    },
  };
}
