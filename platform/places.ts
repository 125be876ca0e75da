export interface Places {
  /** Resolves with how to give the place back once one is free, first come, first served. */
  take(): Promise<() => void>;
}

/** So many may be at work at a time. */
export function makePlaces(places: number): Places {
  let free = places;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    async take() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let given = false;
      return () => {
        if (!given) giveBack();
        given = true;
      };
    },
  };
}
