import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";
import { judge, wanted, type GoalName } from "./goals.ts";
import type { Answer, Ask, Form } from "./growth-form.ts";
import { machine, median, option, table } from "./measuring.ts";

/**
 * Row 16 of the goals: nothing grows faster than the work. One thing at a time is made large and measured beside its small
 * form, in turns: CPU-µs of all server processes an event (a push, for `services`), with PostgreSQL, ClickHouse and Kafka as
 * servers of their own for each side. `all` makes everything large at once. `events` also reads every list and detail of the
 * API from what is stored, which ClickHouse makes itself.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/growth.ts [--only partitions,signatures,services,edges,events,all] [--seconds 20]
 *     [--turns 3] [--rate 6000] [--events 100000000] [--calls 30] [--folder path] [--smoke]
 *
 * The rate is fixed and the same for all sides, and one that the machine carries without growing lag: how much comes decides
 * how large batches are, and with them what each event costs. At saturation a side that is slower would be given larger batches,
 * which hides what it costs; and the load generator, which takes a varying part of the same cores, would decide how much comes.
 * What edges take at rest is measured first and left out of an event's cost: at this rate it would be most of it for 20 edges.
 *
 * With `--folder` the stores with the stored events stay there, and the next run uses them again (about 15 GB for
 * 100,000,000). `--smoke` shows that each comparison works: its figures mean nothing. Exits 1 when a goal is missed.
 */
const SMOKE = process.argv.includes("--smoke");
const TURNS = Number(option("turns", SMOKE ? "1" : "3"));
const SECONDS = Number(option("seconds", SMOKE ? "3" : "20"));
const RATE = Number(option("rate", SMOKE ? "1000" : "6000"));
const PUSH_RATE = RATE / 2;
const CALLS = Number(option("calls", SMOKE ? "2" : "30"));
const EVENTS = Number(option("events", SMOKE ? "100000" : "100000000"));
const FOLDER = option("folder", "");
/** Until code is compiled and connections are open; does not count. */
const WARM_SECONDS = SMOKE ? 2 : 20;
const MANY = SMOKE ? { signatures: 20_000, services: 500, edges: 3 } : { signatures: 1_000_000, services: 20_000, edges: 20 };

const SMALL: Form = { name: "small", load: "errors", partitions: 4, signatures: 5_000, services: 1, edges: 0, events: 0, storedFolder: "" };

interface Comparison {
  name: string;
  what: string;
  goal: GoalName;
  perSecond: number;
  /** The first is what the others are compared with. */
  forms: Form[];
}

function comparisons(storedFolder: string): Comparison[] {
  const stored = { events: EVENTS, storedFolder };
  const form = (name: string, different: Partial<Form>): Form => ({ ...SMALL, ...different, name });
  const pushes = (services: number): Form => form(`${services.toLocaleString("en")} services`, { load: "pushes", services });
  const count = (number: number): string => number.toLocaleString("en");
  return [
    { name: "partitions", what: "partitions of each topic", goal: "growth/partitions", perSecond: RATE, forms: [4, 1, 8, 64].map((partitions) => form(`${partitions} partitions`, { partitions })) },
    { name: "signatures", what: "signatures that exist, all of which come by Zipf's law", goal: "growth/signatures", perSecond: RATE, forms: [5_000, 10_000, MANY.signatures].map((signatures) => form(`${count(signatures)} signatures`, { signatures })) },
    { name: "services", what: "services that metrics are pushed for", goal: "growth/services", perSecond: PUSH_RATE, forms: [pushes(100), pushes(MANY.services)] },
    { name: "edges", what: "processes that play the edge, of the same rate together", goal: "growth/edges", perSecond: RATE, forms: [1, MANY.edges].map((edges) => form(`${edges} edges`, { edges })) },
    { name: "events", what: "events stored before", goal: "growth/events", perSecond: RATE, forms: [form("none stored", {}), form(`${count(EVENTS)} stored`, stored)] },
    { name: "all", what: "everything", goal: "growth/all", perSecond: RATE, forms: [form("4 partitions, 5,000 signatures, 1 edge, none stored", { edges: 1 }), form(`64 partitions, ${count(MANY.signatures)} signatures, ${MANY.edges} edges, ${count(EVENTS)} stored`, { partitions: 64, signatures: MANY.signatures, edges: MANY.edges, ...stored })] },
  ];
}

/** A side in its own process. */
interface Side {
  form: Form;
  ask<Kind extends Ask["kind"]>(ask: Extract<Ask, { kind: Kind }>): Promise<Extract<Answer, { kind: Kind }>>;
  stop(): Promise<void>;
}

async function startSide(form: Form): Promise<Side> {
  const child = fork(join(PROJECT_ROOT, "bench/growth-side.ts"), [JSON.stringify(form)], { execArgv: LOADER_ARGUMENTS });
  const said = async (): Promise<Answer> => {
    const told = await Promise.race([once(child, "message").then(([message]) => message as Answer), ended(child)]);
    if (told.kind === "failed") throw new Error(`${form.name}: ${told.reason}`);
    return told;
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    if (child.connected) child.send({ kind: "stop" } satisfies Ask);
    await exited;
  };
  try {
    await said();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    form,
    stop,
    async ask<Kind extends Ask["kind"]>(ask: Extract<Ask, { kind: Kind }>) {
      const answered = said();
      child.send(ask);
      return (await answered) as Extract<Answer, { kind: Kind }>;
    },
  };
}

async function ended(child: ChildProcess): Promise<Answer> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  return { kind: "failed", reason: `its process ended with ${signal ?? code}` };
}

type Round = Extract<Answer, { kind: "round" }>;

const whole = ({ costs }: { costs: [string, number][] }): number => costs.reduce((sum, [, cost]) => sum + cost, 0);

async function compare({ name, what, goal, perSecond, forms }: Comparison): Promise<boolean> {
  const sides: Side[] = [];
  try {
    for (const form of forms) sides.push(await startSide(form));
    for (const side of sides) await side.ask({ kind: "round", seconds: WARM_SECONDS, perSecond });
    const rests = forms.every(({ edges }) => edges > 0) ? await restsOf(sides) : null;
    const rounds: Round[][] = sides.map(() => []);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [number, side] of sides.entries()) rounds[number]!.push(await side.ask({ kind: "round", seconds: SECONDS, perSecond }));
    }
    const unit = forms[0]!.load === "errors" ? "an event" : "a push";
    const processes = [...new Set(rounds.flatMap((each) => each[0]!.costs.map(([process]) => process)))];
    const ratios = rounds.map((each) => median(each.map((round, turn) => whole(round) / whole(rounds[0]![turn]!))));
    console.log(`\n#### ${name}: ${what}\n\nCPU-µs ${unit} at ${perSecond.toLocaleString("en")} a second, medians of ${TURNS} turns of ${SECONDS} s; ${machine()}\n`);
    const lines = sides.map(({ form }, number) => {
      const own = rounds[number]!;
      const of = (process: string) => median(own.map(({ costs }) => new Map(costs).get(process) ?? 0)).toFixed(1);
      const sums = own.map(whole);
      return [form.name, ...processes.map(of), `${median(sums).toFixed(1)} (${Math.min(...sums).toFixed(1)}–${Math.max(...sums).toFixed(1)})`, number === 0 ? "" : ratios[number]!.toFixed(2), number === 0 ? "" : wanted(goal), String(Math.max(...own.map(({ lag }) => lag)))];
    });
    console.log(table([["form", ...processes, "all", "times the first", "wanted", "most events waiting"], ...lines]));
    const reached = [judge(goal, Math.max(...ratios.slice(1)))];
    if (rests) console.log(`\n${table(rests)}`);
    const reading = name === "events" ? sides.find(({ form }) => form.events > 0) : undefined;
    if (reading) reached.push(await showReading(reading));
    return reached.every(Boolean);
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
  }
}

async function restsOf(sides: Side[]): Promise<string[][]> {
  const lines = [["at rest, CPU-ms a second (left out above)", "edges", "each"]];
  for (const side of sides) {
    const edges = new Map((await side.ask({ kind: "rest", seconds: SECONDS })).costs).get("edges")!;
    lines.push([side.form.name, edges.toFixed(1), (edges / side.form.edges).toFixed(2)]);
  }
  return lines;
}

/** p99 of lists and details; of an export, which is as long as it is, that of its first byte. */
async function showReading(side: Side): Promise<boolean> {
  const { times } = await side.ask({ kind: "read", calls: CALLS });
  const worst = (kinds: string[]) => Math.max(...times.filter(({ kind }) => kinds.includes(kind)).map(({ kind, p99, first }) => (kind === "export" ? first : p99)));
  console.log(`\n${CALLS} calls each, one at a time, ms\n\n${table([["request", "p50", "p99", "first byte, p99"], ...times.map(({ name, p50, p99, first }) => [name, p50.toFixed(1), p99.toFixed(1), first.toFixed(1)])])}\n`);
  return [judge("growth/lists", worst(["list"])), judge("growth/details", worst(["detail", "export"]))].every(Boolean);
}

async function main(): Promise<boolean> {
  const folder = FOLDER || (await mkdtemp(join(tmpdir(), "pharos-growth-")));
  const all = comparisons(folder);
  const only = option("only", all.map(({ name }) => name).join(",")).split(",");
  const unknown = only.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}.`);
  try {
    const reached: boolean[] = [];
    for (const comparison of all) if (only.includes(comparison.name)) reached.push(await compare(comparison));
    return reached.every(Boolean);
  } finally {
    if (FOLDER === "") await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
