/**
 * `npm run test:faults [-- a b …]`: plays the faults on a Pharos of several processes with a real Kafka and prints a table; exits 1
 * when something was missed. `FAULTS=long` is the form of docs/reliability.md, which takes more than an hour.
 */
import { cpus, loadavg } from "node:os";
import { kafkaAvailable } from "../testing/kafka.ts";
import { killAtRandom } from "./a-kill.ts";
import { kafkaAway } from "./b-kafka-away.ts";
import { kafkaFrozen } from "./c-kafka-frozen.ts";
import { clickhouseAway, clickhouseSilent, postgresAway } from "./d-store-away.ts";
import { rebalance } from "./e-rebalance.ts";
import { tableOf, type FaultResult, type Form } from "./fault.ts";
import { slowConnections } from "./g-slow-connections.ts";
import { poison } from "./h-poison.ts";
import { stopUnderLoad } from "./j-sigterm.ts";
import { startStage, type Stage } from "./stage.ts";

type Play = (stage: Stage, form: Form) => Promise<FaultResult>;
const FAULTS: Record<string, readonly Play[]> = {
  a: [killAtRandom],
  b: [kafkaAway],
  d: [postgresAway, clickhouseAway, clickhouseSilent],
  e: [rebalance],
  g: [slowConnections],
  h: [poison],
  j: [stopUnderLoad],
  // The last one: its stage has small spools.
  c: [kafkaFrozen],
};
/** So that a spool fills within the short form. */
const SMALL_SPOOLS = { SPOOL_BYTES: form() === "short" ? String(8 * 2 ** 20) : String(256 * 2 ** 20) };

function form(): Form {
  return process.env.FAULTS === "long" ? "long" : "short";
}

const named = process.argv.slice(2);
const unknown = named.filter((letter) => !(letter in FAULTS));
if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(", ")}; there are ${Object.keys(FAULTS).join(", ")}.`);
  process.exit(1);
}
const available = kafkaAvailable();
if (!available.available) {
  console.error(`The faults need a real Kafka: ${available.reason}.`);
  process.exit(1);
}

async function playOn(letters: readonly string[], settings: Record<string, string>): Promise<FaultResult[]> {
  const chosen = letters.filter((letter) => named.length === 0 || named.includes(letter)).flatMap((letter) => FAULTS[letter]!);
  if (chosen.length === 0) return [];
  const began = performance.now();
  const tell = (sentence: string) => console.error(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${sentence}`);
  const stage = await startStage({ settings });
  tell("the stage is up");
  const results: FaultResult[] = [];
  try {
    for (const fault of chosen) {
      const result = await fault(stage, form());
      tell(`${result.fault}: ${result.missed.join("; ") || "nothing missed"}`);
      results.push(result);
    }
  } finally {
    await stage.stop();
  }
  return results;
}

const letters = Object.keys(FAULTS);
const results = [...(await playOn(letters.filter((letter) => letter !== "c"), {})), ...(await playOn(["c"], SMALL_SPOOLS))];
console.log(`${form()} form, ${cpus().length} cores, load average ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}\n\n${tableOf(results)}`);
process.exitCode = results.every(({ missed }) => missed.length === 0) ? 0 : 1;
