import { array, constant, constantFrom, integer, nat, oneof, record, type Arbitrary } from "fast-check";

/** What a receiver does with one attempt. */
export interface Outcome {
  /** Null: no answer. */
  status: number | null;
  durationMs: number;
  /** Its `Retry-After`, in seconds. */
  retryAfterS: number | null;
}

export type Act = "event" | "disable" | "enable" | "redeliver" | "test" | "rotate";

/** What happens to a webhook by itself: somebody's act, and what the receiver would do with the attempts that follow from it, one after the other. */
export interface Step {
  act: Act;
  atMs: number;
  /** Which earlier event a redelivery is of, if there is any. */
  pick: number;
  outcomes: Outcome[];
}

export interface Trace {
  /** Each delivery that was planned, in the order of the steps they come from: `step.attempt trigger status code`, and when it was attempted. */
  deliveries: string[];
  active: boolean;
  reason: string | null;
  disabledAtMs: number | null;
  /** How often the owner was told. */
  told: number;
}

/** All moments of one step's deliveries have its number as their rest: no two things happen at the same millisecond. */
const GRID_MS = 20;
const DAY = 86_400_000;
const onGrid = (max: number) => integer({ min: 1, max: max / GRID_MS }).map((n) => n * GRID_MS);

const failing = record({
  status: constantFrom(null, 301, 302, 400, 404, 429, 429, 500, 503, 503),
  durationMs: onGrid(30_000),
  retryAfterS: oneof(constant(null), integer({ min: 0, max: 200_000 })),
});
const any: Arbitrary<Outcome> = oneof(
  { arbitrary: failing, weight: 12 },
  { arbitrary: failing.map((outcome) => ({ ...outcome, status: 200 })), weight: 4 },
  { arbitrary: failing.map((outcome) => ({ ...outcome, status: 410 })), weight: 1 },
);
/** Receivers that are down for good are those that get webhooks disabled. */
const outcomes = oneof(array(failing, { minLength: 6, maxLength: 6 }), array(any, { minLength: 6, maxLength: 6 }));
const act = constantFrom<Act>("event", "event", "event", "event", "redeliver", "test", "disable", "enable", "enable", "rotate");
const gap = oneof(onGrid(5_000), onGrid(10 * 60_000), onGrid(5 * 3_600_000), onGrid(2 * DAY));

export const histories: Arbitrary<Step[]> = array(record({ act, gap, pick: nat(), outcomes }), { minLength: 2, maxLength: GRID_MS - 1 }).map((steps) => {
  let grid = 0;
  return steps.map(({ gap: pause, ...step }, number) => ({ ...step, atMs: (grid += pause) + number }));
});

/** An event fails at each attempt, and the webhook is disabled and enabled again while the attempt of that number is being made, which ends with `status`. */
export function interruptedAt(attempt: number, status: number): Step[] {
  const began = WAITS.slice(0, attempt - 1).reduce((at, wait) => at + GRID_MS + wait, GRID_MS);
  const short: Outcome = { status: 500, durationMs: GRID_MS, retryAfterS: null };
  const all = Array.from({ length: 6 }, (_, index) => (index + 1 === attempt ? { status, durationMs: 20_000, retryAfterS: null } : short));
  const step = (act: Act, atMs: number): Step => ({ act, atMs, pick: 0, outcomes: all });
  return [step("event", GRID_MS), step("disable", began + 1_001), step("enable", began + 2_002)];
}

/** The event that a redelivery at `number` is of: null when nothing was delivered before. */
export function redelivered(steps: readonly Step[], number: number, planned: (step: number) => boolean): number | null {
  const before = steps.flatMap(({ act: done }, at) => (done === "event" && at < number && planned(at) ? [at] : []));
  return before.length === 0 ? null : before[steps[number]!.pick % before.length]!;
}

const WAITS = [60_000, 300_000, 1_800_000, 7_200_000, DAY];

/**
 * The rules of deliveries as docs/webhooks.md says them, written down plainly and with nothing of the code that they are for: what shall
 * come of a history.
 */
export function playByTheRules(steps: readonly Step[]): Trace {
  interface Planned { step: number; attempt: number; trigger: string; at: number; status: string; code: number | null; started: number | null }
  const all: Planned[] = [];
  const agenda = steps.map((_, step) => ({ at: steps[step]!.atMs, do: () => perform(step) }));
  const hook = { active: true, reason: null as string | null, disabledAt: null as number | null, told: 0 };
  const later = (at: number, what: () => void) => agenda.push({ at, do: what });

  function perform(step: number): void {
    const { act: done, atMs } = steps[step]!;
    if (done === "event" && hook.active) plan(step, 1, "event", atMs);
    if (done === "test") plan(step, 1, "test", atMs);
    if (done === "redeliver" && redelivered(steps, step, (at) => all.some((each) => each.step === at)) !== null) plan(step, 1, "redeliver", atMs);
    if (done === "disable" && hook.active) stop("manual", atMs);
    if (done === "enable" && !hook.active) Object.assign(hook, { active: true, reason: null, disabledAt: null });
  }

  function plan(step: number, attempt: number, trigger: string, at: number): void {
    const planned: Planned = { step, attempt, trigger, at, status: "pending", code: null, started: null };
    all.push(planned);
    later(at, () => attemptNow(planned));
  }

  function attemptNow(planned: Planned): void {
    if (planned.status === "abandoned") return;
    planned.started = planned.at;
    const outcome = steps[planned.step]!.outcomes[planned.attempt - 1]!;
    later(planned.at + outcome.durationMs, () => finish(planned, outcome));
  }

  function finish(planned: Planned, { status, durationMs, retryAfterS }: Outcome): void {
    const end = planned.at + durationMs;
    const givenUp = planned.status === "abandoned";
    planned.code = status;
    planned.status = status !== null && status >= 200 && status <= 299 ? "delivered" : "failed";
    if (planned.status === "delivered" || !hook.active) return;
    if (status === 410) return stop("gone", end);
    if (givenUp || planned.trigger !== "event") return;
    if (planned.attempt === 6) return stop("retries_exhausted", end);
    const wait = WAITS[planned.attempt - 1]!;
    const longest = planned.attempt === 5 ? DAY : WAITS[planned.attempt]!;
    const asked = (status === 429 || status === 503) && retryAfterS !== null ? retryAfterS * 1_000 : 0;
    plan(planned.step, planned.attempt + 1, "event", end + Math.min(Math.max(wait, asked), longest));
  }

  function stop(reason: string, at: number): void {
    Object.assign(hook, { active: false, reason, disabledAt: at, told: hook.told + (reason === "manual" ? 0 : 1) });
    for (const each of all) if (each.status === "pending") each.status = "abandoned";
  }

  while (agenda.length > 0) {
    agenda.sort((a, b) => a.at - b.at);
    agenda.shift()!.do();
  }
  const deliveries = all.map(({ step, attempt, trigger, status, code, started }) => describeDelivery({ step, attempt, trigger, status, code, started }));
  return { deliveries: deliveries.toSorted(), active: hook.active, reason: hook.reason, disabledAtMs: hook.disabledAt, told: hook.told };
}

export function describeDelivery({ step, attempt, trigger, status, code, started }: { step: number; attempt: number; trigger: string; status: string; code: number | null; started: number | null }): string {
  return `${step}.${attempt} ${trigger} ${status} ${code ?? "-"} at ${started ?? "-"}`;
}
