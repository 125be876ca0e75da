import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PROJECT_ROOT } from "../../platform/root.ts";
import type { OldFrame } from "./old-frames.ts";

const PROGRAM = join(PROJECT_ROOT, "scripts", "upgrade", "old-processor.mjs");
const LIMIT_MS = 90_000;

/** What `old-processor.mjs` is asked to do; its comment tells of each. */
export interface OldWork {
  old: string;
  logFolder: string;
  databaseUrl: string;
  clickhouseUrl: string;
  frames: readonly OldFrame[];
  group: "errors" | "samples" | "ping-history" | null;
  partitions: readonly number[];
  stopAt: "opened" | "inserted" | "running";
  /** Its log goes on saying that the partition is its own. */
  staysOwner?: boolean;
}

/** What an old processor tells of itself. */
interface OldEvent {
  event: "running" | "ended" | "appended";
  ok?: boolean;
  message?: string;
}

/** An old processor that runs. */
export interface OldProcessor {
  /** Resolves with the event once it came; rejects when the process ends before, with what it printed. */
  told(event: OldEvent["event"]): Promise<OldEvent>;
  /** Puts one more frame into its log. */
  append(frame: OldFrame): void;
  /** Everything that it wrote to its log so far. */
  output(): string;
  kill(): void;
  exited: Promise<number | string>;
}

/** Starts consumers of the older version in a process of their own. */
export function startOldProcessor(work: OldWork): OldProcessor {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(work)], { stdio: ["pipe", "pipe", "pipe"] });
  const events: OldEvent[] = [];
  const waiting = new Set<() => void>();
  let output = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    output += `${line}\n`;
    if (!line.startsWith('{"event"')) return;
    events.push(JSON.parse(line) as OldEvent);
    for (const look of waiting) look();
  });
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit").then(([code, signal]) => (signal ?? code ?? -1) as number | string);
  const limit = setTimeout(() => child.kill("SIGTERM"), LIMIT_MS);
  void exited.then(() => clearTimeout(limit));
  return {
    told: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = events.find(({ event }) => event === wanted);
          if (found) resolve(found);
        };
        waiting.add(look);
        look();
        void exited.then((code) => reject(new Error(`An old processor ended with ${code}:\n${output}`)));
      }),
    append: (frame) => void child.stdin.write(`${JSON.stringify(frame)}\n`),
    output: () => output,
    kill: () => void child.kill("SIGKILL"),
    exited,
  };
}

/** Runs consumers of the older version until they kill themselves at their step, or only appends. */
export async function runOldProcessor(work: OldWork): Promise<void> {
  const { exited, output } = startOldProcessor(work);
  const end = await exited;
  const wanted = work.group === null ? 0 : "SIGKILL";
  if (end !== wanted) throw new Error(`An old processor ended with ${end} instead of ${wanted}:\n${output()}`);
}
