import type { WorkflowStep } from "../../schemas/api/workflows.ts";

/** A step with its place in the request and in the nesting; 1 is the top. */
export interface PlacedStep {
  step: WorkflowStep;
  path: string;
  depth: number;
}

/** Every step, those inside conditions too, in the order in which they stand. */
export function* walkSteps(steps: readonly WorkflowStep[], path = "/steps", depth = 1): Generator<PlacedStep> {
  for (const [index, step] of steps.entries()) {
    const place = `${path}/${index}`;
    yield { step, path: place, depth };
    if (step.type !== "condition") continue;
    yield* walkSteps(step.then, `${place}/then`, depth + 1);
    yield* walkSteps(step.else ?? [], `${place}/else`, depth + 1);
  }
}
