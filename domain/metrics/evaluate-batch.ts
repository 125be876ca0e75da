import type { Thresholds } from "../../schemas/thresholds.ts";
import { evaluatePush, judgeOf, type MetricState, type OpinionStep } from "./evaluate.ts";

/** The pushes of one service in the order of their receipt, with all that judging them needs; can be sent to a worker thread. */
export interface ServiceBatch {
  state: MetricState;
  thresholds: Thresholds;
  pushes: Readonly<Record<string, number>>[];
}

export interface ServiceOutcome {
  state: MetricState;
  /** One for each push: what it changed, or null. */
  steps: (OpinionStep | null)[];
}

/** Judges many services' pushes, each service's in order. Pure: fit for a worker thread. */
export function evaluateBatch(batches: ServiceBatch[]): ServiceOutcome[] {
  return batches.map(({ state, thresholds, pushes }) => {
    const judge = judgeOf(thresholds);
    let current = state;
    const steps = pushes.map((metrics) => {
      const evaluated = evaluatePush(current, metrics, judge);
      current = evaluated.state;
      return evaluated.step;
    });
    return { state: current, steps };
  });
}
