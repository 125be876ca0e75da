import { readdirSync, readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";

/** The kernel counts a process's time in hundredths of a second (USER_HZ). */
const US_PER_TICK = 10_000;

/** The value after `--name` on the command line. */
export function option(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? fallback : process.argv[at + 1]!;
}

/** User and system time of a living process with all its threads so far, in µs (proc(5), `stat`: the 14th and 15th field; its name may hold blanks). */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * US_PER_TICK;
}

/** What the ended children of a process had used, which it has waited for, in µs (the 16th and 17th field). */
function cpuOfEnded(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * US_PER_TICK;
}

/** User and system time of a process and all below it so far, in µs, those that ended among them as far as their parents waited for them. */
export function cpuOfFamily(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + cpuOrNothing(each), 0);
}

/** The same of one process and its ended children; 0 when it has just ended. */
export function cpuOrNothing(pid: number): number {
  return readOrEmpty(`/proc/${pid}/stat`) === "" ? 0 : cpuOf(pid) + cpuOfEnded(pid);
}

/** Of this process with all its threads so far, in µs. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The upper one of two in the middle; NaN of nothing. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}

/** What a figure is worth nothing without. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.versions.node}, load average ${loadavg().map((each) => each.toFixed(1)).join(", ")} in the last 1, 5 and 15 minutes`;
}

/** A markdown table; the first row names the columns. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const line = (row: readonly (string | number)[]) => `| ${row.join(" | ")} |`;
  return [line(rows[0]!), line(rows[0]!.map(() => "---")), ...rows.slice(1).map(line)].join("\n");
}

/** All processes below one, at any depth. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const child = Number(name);
    if (!child) continue;
    const parent = parentOf(child);
    parents.set(parent, [...(parents.get(parent) ?? []), child]);
  }
  const found: number[] = [];
  for (let next: number | undefined = pid; next !== undefined; next = found[found.indexOf(next) + 1]) found.push(...(parents.get(next) ?? []));
  return found;
}

/** It may end while it is read. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

const parentOf = (pid: number): number => Number(readOrEmpty(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ")[1] ?? 0);

/** MB of a process and all below it, each shared page counted by its share. */
export function pssOfFamily(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + Number(/^Pss:\s+(\d+)/m.exec(readOrEmpty(`/proc/${each}/smaps_rollup`))?.[1] ?? 0) / 1_024, 0);
}
