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

export interface PlacesByOwner {
  /** Does work of an owner once one of its places is free; gives what the work gives, or rejects as it does. */
  occupy<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
}

/** So many works of one owner may run at a time: its others wait, and only they. */
export function makePlacesByOwner(perOwner: number): PlacesByOwner {
  const owners = new Map<string, { places: Places; users: number }>();
  return {
    async occupy(owner, work) {
      const own = owners.get(owner) ?? { places: makePlaces(perOwner), users: 0 };
      owners.set(owner, own);
      own.users += 1;
      const giveBack = await own.places.take();
      try {
        return await work();
      } finally {
        giveBack();
        own.users -= 1;
        if (own.users === 0) owners.delete(owner);
      }
    },
  };
}
