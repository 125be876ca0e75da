export interface FairTurns {
  /** Resolves with how to end the turn once it has come. Rejects with TooManyWait. */
  take(owner: string): Promise<() => void>;
}

export class TooManyWait extends Error {
  /** Whose waiting turns are too many. */
  readonly of: "owner" | "all";

  constructor(of: TooManyWait["of"]) {
    super("too many wait for their turn");
    this.of = of;
  }
}

interface FairTurnsNeeds {
  /** How many turns of one owner may wait. */
  perOwner: number;
  /** How many of all owners. */
  overall: number;
  /** Milliseconds that never go back. */
  now?: () => number;
}

/**
 * One turn at a time. The next one is that of the owner whose turns took the least time so far; of one owner, first come, first served. So an
 * owner with many long turns makes another wait for one of them, not for all. Time is not saved up: who comes back begins where the others are.
 */
export function makeFairTurns({ perOwner, overall, now = () => performance.now() }: FairTurnsNeeds): FairTurns {
  const lines = new Map<string, (() => void)[]>();
  /** Milliseconds that each owner's turns took; forgotten when nobody waits. */
  const spent = new Map<string, number>();
  let waiting = 0;
  /** Whose turn it is. */
  let current: string | null = null;
  /** What that owner had spent before. */
  let level = 0;

  function begin(owner: string): () => void {
    current = owner;
    level = spent.get(owner)!;
    const begun = now();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      spent.set(owner, level + now() - begun);
      current = null;
      goOn();
    };
  }

  function goOn(): void {
    const [first, ...others] = lines.keys();
    if (first === undefined) {
      spent.clear();
      level = 0;
      return;
    }
    const owner = others.reduce((least, each) => (spent.get(each)! < spent.get(least)! ? each : least), first);
    const line = lines.get(owner)!;
    const turn = line.shift()!;
    if (line.length === 0) lines.delete(owner);
    waiting -= 1;
    turn();
  }

  return {
    async take(owner) {
      const line = lines.get(owner) ?? [];
      if (line.length === 0 && current !== owner) spent.set(owner, Math.max(spent.get(owner) ?? 0, level));
      if (current === null) return begin(owner);
      if (line.length >= perOwner) throw new TooManyWait("owner");
      if (waiting >= overall) throw new TooManyWait("all");
      waiting += 1;
      lines.set(owner, line);
      return new Promise((resolve) => line.push(() => resolve(begin(owner))));
    },
  };
}
