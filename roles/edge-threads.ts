import { Worker } from "node:worker_threads";
import type { Config } from "../platform/config.ts";
import { serveLogToThread } from "../platform/event-log/by-thread.ts";
import { findFreePort } from "../platform/require-free-port.ts";
import { moduleFile, threadProgram } from "../platform/root.ts";
import { StartFailure } from "../platform/start-failure.ts";
import { makeThreadCalls, type ThreadCalls } from "../platform/thread-calls.ts";
import type { EdgeThreadData, ObservedFigure } from "./edge-thread.ts";
import type { House } from "./house.ts";

interface EdgeThreadsNeeds extends House {
  threads: number;
  /** A thread ended by itself; the process cannot go on. */
  onLost(sentence: string): void;
}

/**
 * Plays the edge in `threads` threads, so that taking in does not wait for the other roles. All
 * listen on one port, among which the kernel spreads connections. Throws StartFailure as
 * `startEdgeRole` does.
 */
export async function startEdgeThreads(needs: EdgeThreadsNeeds): Promise<{ port: number }> {
  const { config, metrics } = needs;
  // Only a port that is named can be shared.
  const port = config.EDGE_PORT || (await findFreePort(config.HOST));
  const threads: ThreadCalls[] = [];
  for (let number = 1; number <= needs.threads; number++) {
    threads.push(await startEdgeThread(needs, { number, port }));
  }
  const [first] = threads;
  for (const { name, help } of await first!.call<ObservedFigure[]>("figures")) {
    metrics.observeEach(name, help, "thread", () => Promise.all(threads.map((thread) => thread.call<number>("figure", name))));
  }
  return { port };
}

async function startEdgeThread(needs: EdgeThreadsNeeds, { number, port }: { number: number; port: number }): Promise<ThreadCalls> {
  const { config, databaseUrl, clickhouseUrl, eventLog, lifecycle, probes, onLost } = needs;
  const served = serveLogToThread(eventLog, () => calls);
  const data: EdgeThreadData = { config: withoutSecrets(config), databaseUrl, clickhouseUrl, logFacts: served.facts };
  const worker = new Worker(threadProgram(moduleFile("./edge-thread.ts", import.meta.url)), { eval: true, workerData: data, name: `edge ${number}` });
  const calls = makeThreadCalls(worker, {
    ...served.handlers,
    probe: ({ path, address }: { path: string; address: string }) => probes(path, address),
  });
  let stopping = false;
  const lost = new Promise<never>((_, reject) => {
    const end = (reason: string) => {
      calls.close();
      if (!stopping) reject(new StartFailure(`The edge's thread ended: ${reason}.`));
    };
    worker.on("error", (error) => end(error.message));
    worker.on("exit", (code) => end(`exit code ${code}`));
  });
  const started = calls.call("start", port).catch((error: Error) => {
    throw error.name === "StartFailure" ? new StartFailure(error.message) : error;
  });
  lifecycle.add({
    name: number === 1 ? "edge" : `edge ${number}`,
    async unready() {
      const reasons = Object.values(await calls.call<Record<string, string>>("unready"));
      return reasons.length === 0 ? null : reasons.join("; ");
    },
    async stop() {
      stopping = true;
      try {
        await calls.call("stop");
      } finally {
        await served.close();
        await worker.terminate();
      }
    },
  });
  await Promise.race([started, lost]);
  lost.catch((error: Error) => onLost(error.message));
  return calls;
}

/** What an edge has no use for is not copied into its thread. */
function withoutSecrets(config: Config): Config {
  return { ...config, SECRETS_KEY: null, SECRETS_KEY_FALLBACK: null };
}
