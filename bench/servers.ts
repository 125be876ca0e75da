import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PROJECT_ROOT } from "../platform/root.ts";
import { load } from "./edge-load.ts";
import { cpuOf } from "./measuring.ts";

/** A server under measurement, in a process of its own. */
export interface Server {
  child: ChildProcess;
  /** 0 for a process that listens nowhere. */
  port: number;
}

/** Resolves with the port that `ready` finds in its output, if it looks for one; rejects with the output when it ends before. */
export async function startServer(args: string[], environment: Record<string, string>, ready: RegExp): Promise<Server> {
  const child = spawn(process.execPath, args, { cwd: PROJECT_ROOT, env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (ready.test(output)) break;
  }
  child.stdout.resume();
  const found = ready.exec(output);
  if (!found) throw new Error(`A server ended before it was ready:\n${output}`);
  return { child, port: Number(found[1] ?? 0) };
}

/**
 * The unit that costs are given in beside CPU time: uWebSockets.js that reads a body and answers as
 * an edge does, at once or, together with others, `answerAfterMs` later. Needs a build.
 */
export function startBare({ answerAfterMs = 0 } = {}): Promise<Server> {
  const environment = {
    ANSWER: '{"success":true,"accepted":1,"rejected":[]}',
    ANSWER_AFTER_MS: String(answerAfterMs),
  };
  return startServer([join(PROJECT_ROOT, "dist/bench/bare-edge.js")], environment, /port (\d+)/);
}

export async function endServer({ child }: Server): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
}

/** What a request costs a server that takes as many as it can. */
export interface RequestCost {
  cpuUs: number;
  perSecond: number;
}

/** Throws when a request was refused. */
export async function measureRequests({ child, port }: Server, { requests, connections, seconds }: { requests: Buffer[]; connections: number; seconds: number }): Promise<RequestCost> {
  const before = cpuOf(child.pid!);
  const { taken, refused, seconds: took } = await load({ port, connections, requests, ms: seconds * 1_000 });
  if (refused > 0) throw new Error(`${refused} requests were refused beside ${taken} that were taken`);
  return { cpuUs: (cpuOf(child.pid!) - before) / taken, perSecond: taken / took };
}
