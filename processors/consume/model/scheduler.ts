/** What becomes of a call of a store. */
export type Fate = "done" | "refused" | "not done, no answer" | "done, no answer";

interface Call {
  process: number;
  kind: "postgres" | "clickhouse" | "timer";
  /** Does what the call asks for; throws when it is refused by what stands. */
  act(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Lets calls of simulated processes happen one by one, in an order and with outcomes that the history chooses. */
export interface Scheduler {
  call<T>(process: number, kind: Call["kind"], act: () => T): Promise<T>;
  waiting(kind?: Call["kind"]): number;
  /** Lets the `choice`-th of the waiting calls happen. False when none waits. */
  step(choice: number, fate: Fate): boolean;
  /** A process died: its calls never happen, or have no answer. */
  forget(process: number): void;
  /** Connections break: nothing of what waits happens. */
  breakAll(kind: Call["kind"]): void;
}

/** Without calls. `unknown` and `refused` make the errors that stores give. */
export function makeScheduler(errors: { unknown(kind: Call["kind"]): Error; refused(): Error }): Scheduler {
  let calls: Call[] = [];
  return {
    call: <T>(process: number, kind: Call["kind"], act: () => T) =>
      new Promise<T>((resolve, reject) => {
        calls.push({ process, kind, act, resolve, reject });
      }),
    waiting: (kind) => (kind ? calls.filter((call) => call.kind === kind).length : calls.length),
    step(choice, fate) {
      if (calls.length === 0) return false;
      const [call] = calls.splice(choice % calls.length, 1) as [Call];
      if (call.kind === "timer") return (call.resolve(call.act()), true);
      if (fate === "refused") return (call.reject(errors.refused()), true);
      if (fate === "not done, no answer") return (call.reject(errors.unknown(call.kind)), true);
      try {
        const value = call.act();
        if (fate === "done") call.resolve(value);
        else call.reject(errors.unknown(call.kind));
      } catch (error) {
        call.reject(error);
      }
      return true;
    },
    forget: (process) => void (calls = calls.filter((call) => call.process !== process)),
    breakAll(kind) {
      const broken = calls.filter((call) => call.kind === kind);
      calls = calls.filter((call) => call.kind !== kind);
      for (const { reject } of broken) reject(errors.unknown(kind));
    },
  };
}
