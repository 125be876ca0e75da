export interface Turns {
  /** How many run at a time. */
  atOnce: number;
  /** How many more may wait. */
  waiting: number;
}

/** Runs one work after the other, in the order in which they came. Throws what `refusal` makes when too many wait already. */
export function takeTurns({ atOnce, waiting }: Turns, refusal: () => Error): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (running < atOnce) running += 1;
    else if (queue.length < waiting) await new Promise<void>((resolve) => void queue.push(resolve));
    else throw refusal();
    try {
      return await work();
    } finally {
      // Whoever waits takes over this turn, so nobody who comes now gets before them.
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** The same for each key by itself. A key is forgotten when nobody of it runs or waits. */
export function takeTurnsByKey(turns: Turns, refusal: () => Error): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const lines = new Map<string, { inTurn: ReturnType<typeof takeTurns>; present: number }>();
  return async (key, work) => {
    const line = lines.get(key) ?? { inTurn: takeTurns(turns, refusal), present: 0 };
    lines.set(key, line);
    line.present += 1;
    try {
      return await line.inTurn(work);
    } finally {
      line.present -= 1;
      if (line.present === 0) lines.delete(key);
    }
  };
}
