import { hash } from "node:crypto";
import { fingerprint } from "../domain/errors/fingerprint.ts";
import { parseStack, type ParsedFrame } from "../domain/errors/parse-stack.ts";
import { evaluatePush, judgeOf, type MetricState } from "../domain/metrics/evaluate.ts";
import { DEFAULT_THRESHOLDS } from "../schemas/thresholds.ts";
import { judge, wanted, type GoalName } from "./goals.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What it costs to group a stack of eight frames that is parsed already, and to judge a metrics push: CPU-µs each, medians of rounds.
 * Beside them SHA-256 of the grouped text by itself, and parsing the stack.
 *
 *   npx tsx bench/fingerprint.ts [--pairs 15] [--seconds 0.5]
 *
 * Exits 1 when a figure is not reached.
 */
const ROUNDS = Number(option("pairs", "15"));
const ROUND_MS = Number(option("seconds", "0.5")) * 1_000;
const SIGNATURES = 5_000;
const SERVICES = 2_000;
const BATCH = 1_000;

interface Work {
  name: string;
  /** Does it once, for the number-th time; its result is kept alive so that it is not left out. */
  once(number: number): unknown;
  /** Null where it only stands beside. */
  goal: GoalName | null;
}

function stackOf(signature: number): string {
  const frames = Array.from({ length: 8 }, (_, depth) => `    at step${depth}Of${signature} (https://shop.example/assets/app-${depth}.js:${depth + 1}:${signature + 17})`);
  return `TypeError: cart ${signature} is not iterable\n${frames.join("\n")}`;
}

function works(): Work[] {
  const stacks = Array.from({ length: SIGNATURES }, (_, signature) => stackOf(signature));
  const parsed: ParsedFrame[][] = stacks.map((stack) => parseStack(stack).frames);
  const texts = parsed.map((frames, signature) => fingerprint({ type: "TypeError", message: `cart ${signature}`, frames }).parts.map(({ value }) => value).join("\u0000"));
  const levels = judgeOf(DEFAULT_THRESHOLDS);
  const states: MetricState[] = Array.from({ length: SERVICES }, () => ({ breaches: 0, clears: 0, level: null }));
  const pushes = Array.from({ length: 997 }, (_, number) => ({ error_rate: (number % 40) / 13, response_time_ms: 200 + (number % 90) * 11, cpu_percent: number % 90 }));
  return [
    { name: "fingerprint of 8 parsed frames", goal: "fingerprint", once: (number) => fingerprint({ type: "TypeError", message: "cart is not iterable", frames: parsed[number % SIGNATURES]! }) },
    { name: "SHA-256 of the same text alone", goal: null, once: (number) => hash("sha256", texts[number % SIGNATURES]!, "hex") },
    { name: "parsing the stack of 8 frames", goal: null, once: (number) => parseStack(stacks[number % SIGNATURES]!) },
    {
      name: "thresholds of a push of 3 metrics",
      goal: "thresholds",
      once(number) {
        const service = number % SERVICES;
        const { state } = evaluatePush(states[service]!, pushes[number % pushes.length]!, levels);
        states[service] = state;
        return state;
      },
    },
  ];
}

let kept: unknown;

function measure({ once }: Work): number {
  const before = ownCpu();
  const until = performance.now() + ROUND_MS;
  let done = 0;
  while (performance.now() < until) {
    for (let number = 0; number < BATCH; number++) kept = once(done + number);
    done += BATCH;
  }
  return (ownCpu() - before) / done;
}

function main(): boolean {
  const all = works();
  const figures = new Map(all.map(({ name }) => [name, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const work of all) {
      const cpu = measure(work);
      // The first round warms up.
      if (round >= 0) figures.get(work.name)!.push(cpu);
    }
  }
  console.log(`Grouping and thresholds, CPU-µs each, medians of ${ROUNDS} rounds of ${ROUND_MS / 1_000} s; ${machine()}\n`);
  const rows = all.map(({ name, goal }) => {
    const costs = figures.get(name)!;
    return [name, `${median(costs).toFixed(3)} (${Math.min(...costs).toFixed(3)}–${Math.max(...costs).toFixed(3)})`, goal === null ? "" : wanted(goal)];
  });
  console.log(table([["work", "CPU-µs (spread)", "wanted"], ...rows]));
  if (kept === undefined) throw new Error("Nothing was measured.");
  return all.map(({ name, goal }) => goal === null || judge(goal, median(figures.get(name)!))).every(Boolean);
}

process.exitCode = main() ? 0 : 1;
