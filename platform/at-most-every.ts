/**
 * A call that is made at once, or as soon as `ms` have passed since the one before; calls in
 * between are one.
 */
export interface Paced {
  call(): void;
  /** What waits is not called any more. */
  stop(): void;
}

export function atMostEvery(ms: number, run: () => void): Paced {
  let timer: NodeJS.Timeout | null = null;
  let wanted = false;

  function call(): void {
    if (timer !== null) {
      wanted = true;
      return;
    }
    timer = setTimeout(() => {
      timer = null;
      if (wanted) call();
    }, ms);
    wanted = false;
    run();
  }

  return {
    call,
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
