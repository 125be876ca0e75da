/**
 * `npm run test:faults [-- a b …]`: plays the faults on a Pharos of several processes with a real Kafka and prints a table; exits 1
 * when something was missed. `FAULTS=long` is the form of docs/reliability.md, which takes more than an hour.
 */
import { cpus, loadavg } from "node:os";
import { makeCertificate } from "../testing/certificate.ts";
import { kafkaAvailable } from "../testing/kafka.ts";
import { killAtRandom } from "./a-kill.ts";
import { kafkaAway } from "./b-kafka-away.ts";
import { kafkaFrozen } from "./c-kafka-frozen.ts";
import { clickhouseAway, clickhouseSilent, postgresAway } from "./d-store-away.ts";
import { rebalance } from "./e-rebalance.ts";
import { badReceivers, badReceiversSettings } from "./f-bad-receivers.ts";
import { tableOf, type FaultResult, type Form } from "./fault.ts";
import { slowConnections } from "./g-slow-connections.ts";
import { poison } from "./h-poison.ts";
import { stopUnderLoad } from "./j-sigterm.ts";
import { onlyDiskFull, spoolDiskFull } from "./k-disk-full.ts";
import { postgresRestored } from "./l-postgres-restored.ts";
import { SMALL_FETCHES, smallFetches } from "./o-small-fetches.ts";
import { MANY_PARTITIONS, stuckPartition } from "./p-stuck-partition.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";
import { startAlone, startStage, type Stage } from "./stage.ts";

type Play = (stage: Stage, form: Form) => Promise<FaultResult>;
/** Those that share a stage. */
const FAULTS: Record<string, readonly Play[]> = {
  a: [killAtRandom],
  b: [kafkaAway],
  d: [postgresAway, clickhouseAway, clickhouseSilent],
  e: [rebalance],
  g: [slowConnections],
  h: [poison],
  j: [stopUnderLoad],
  l: [postgresRestored],
};
/** So that a spool fills within the short form. */
const SMALL_SPOOLS = { SPOOL_BYTES: form() === "short" ? String(2 ** 20) : String(256 * 2 ** 20) };

const SPOOL_DISK_MIB = 64;
/** What PostgreSQL and ClickHouse make when they start takes half of it. */
const ONLY_DISK_MIB = 900;

function form(): Form {
  return process.env.FAULTS === "long" ? "long" : "short";
}

const named = process.argv.slice(2);
const letters = [...Object.keys(FAULTS), "c", "f", "k", "o", "p"];
const unknown = named.filter((letter) => !letters.includes(letter));
if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(", ")}; there are ${letters.join(", ")}.`);
  process.exit(1);
}
const isNamed = (letter: string) => named.length === 0 || named.includes(letter);
const available = kafkaAvailable();
if (!available.available) {
  console.error(`The faults need a real Kafka: ${available.reason}.`);
  process.exit(1);
}

const began = performance.now();
const tell = (sentence: string) => console.error(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${sentence}`);
const results: FaultResult[] = [];

async function playOn<S extends { stop(): Promise<void> }>(starting: Promise<S>, plays: readonly ((stage: S) => Promise<FaultResult>)[]): Promise<void> {
  const stage = await starting;
  tell("the stage is up");
  try {
    for (const play of plays) {
      const result = await play(stage);
      tell(`${result.fault}: ${result.missed.join("; ") || "nothing missed"}`);
      results.push(result);
    }
  } finally {
    await stage.stop();
  }
}

async function onSmallDisk(mebibytes: number, play: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const disk = await mountSmallDisk(mebibytes);
  try {
    await play(disk);
  } finally {
    await disk.stop();
  }
}

const shared = Object.entries(FAULTS).flatMap(([letter, plays]) => (isNamed(letter) ? plays : []));
if (shared.length > 0) await playOn(startStage(), shared.map((play) => (stage: Stage) => play(stage, form())));
if (isNamed("c")) await playOn(startStage({ settings: SMALL_SPOOLS }), [(stage) => kafkaFrozen(stage, form())]);
if (isNamed("f")) {
  const certificate = makeCertificate();
  await playOn(startStage({ settings: badReceiversSettings(form(), certificate) }), [(stage) => badReceivers(stage, form(), certificate)]).finally(() => certificate.remove());
}
if (isNamed("o")) await playOn(startStage({ settings: SMALL_FETCHES }), [(stage) => smallFetches(stage, form())]);
if (isNamed("p")) await playOn(startStage({ settings: MANY_PARTITIONS }), [(stage) => stuckPartition(stage, form())]);
if (isNamed("k")) {
  await onSmallDisk(SPOOL_DISK_MIB, (disk) => playOn(startStage({ dataFolder: disk.folder }), [(stage) => spoolDiskFull(stage, disk, form())]));
  await onSmallDisk(ONLY_DISK_MIB, (disk) => playOn(startAlone(disk.folder), [(stage) => onlyDiskFull(stage, disk, form())]));
}

console.log(`${form()} form, ${cpus().length} cores, load average ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}\n\n${tableOf(results)}`);
process.exitCode = results.every(({ missed }) => missed.length === 0) ? 0 : 1;
