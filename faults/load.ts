import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { quantile } from "../bench/measuring.ts";
import type { Ledger } from "../testing/ledger.ts";

/** Errors come in requests of five. */
const EVENTS = 5;
const SIGNATURES = 20;
const SESSIONS = 200;
const TURN_MS = 10;
/** Beyond so many requests on their way none is sent: a server that hangs is not to be met with thousands. */
const MOST_IN_FLIGHT = 600;
/** A client repeats what got no answer for so long. */
const REPEAT_MS = 60_000;

interface LoadNeeds {
  /** Where the edges answer; asked for each request, in turns. */
  edges: readonly string[];
  beaconKey: string;
  ledger: Ledger;
  eventsPerSecond: number;
  /** All its errors are of this signature and session, so they meet one partition. */
  only?: string;
  /** Also pings of this monitor, ten a second. */
  ping?: { slug: string; apiKey: string };
  /** Nothing is repeated once it is aborted: no edge will come back. */
  gone?: AbortSignal;
}

/** What was answered since the lap before. */
interface Lap {
  answered: number;
  /** 503 and its like. */
  refused: number;
  p99: number;
  pingP99: number;
}

export interface Load {
  /** Figures since the last lap. */
  lap(): Lap;
  /** Requests that have been answered or given up so far. */
  settled(): number;
  /** Sends nothing new; resolves when everything on its way has been answered or given up. */
  stop(): Promise<void>;
}

/**
 * Sends at a steady rate whatever the answers are. Every second request names its events and is repeated at another edge when it
 * got no answer, as a client would; the others are counted by the number of their frame alone.
 */
export function startLoad({ edges, beaconKey, ledger, eventsPerSecond, only, ping, gone }: LoadNeeds): Load {
  const agent = new Agent({ connections: MOST_IN_FLIGHT, pipelining: 1, bodyTimeout: 30_000, headersTimeout: 30_000 });
  const stopping = new AbortController();
  let turn = 0;
  let settled = 0;
  let lap = { answered: 0, refused: 0, latencies: [] as number[], pings: [] as number[] };
  const inFlight = new Set<Promise<void>>();
  const edge = () => edges[(turn += 1) % edges.length]!;

  const post = async (path: string, body: string, headers: Record<string, string>): Promise<number> => {
    // A refused connection has carried nothing, so any request may be sent to the next edge.
    for (let tried = 1; ; tried++) {
      try {
        const answer = await request(`${edge()}${path}`, { method: "POST", body, headers, dispatcher: agent });
        await answer.body.dump();
        return answer.statusCode;
      } catch (error) {
        if ((error as { code?: string }).code !== "ECONNREFUSED" || tried > edges.length) throw error;
      }
    }
  };

  async function send(number: number): Promise<void> {
    const first = ledger.take(EVENTS);
    const named = number % 2 === 0;
    const body = bodyOf(ledger, { beaconKey, first, named, number, only });
    const began = performance.now();
    for (;;) {
      const status = await post("/api/beacon", body, {}).catch(() => null);
      if (status === 202) {
        lap.latencies.push(performance.now() - began);
        lap.answered += 1;
        ledger.settle(first, EVENTS, "acked");
      } else if (status !== null) {
        lap.refused += 1;
        ledger.settle(first, EVENTS, "refused");
      } else ledger.settle(first, EVENTS, "unanswered");
      if (status !== null || !named || gone?.aborted || performance.now() - began > REPEAT_MS) return;
      await wait(100);
    }
  }

  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => {
      inFlight.delete(tracked);
      settled += 1;
    });
    inFlight.add(tracked);
  };
  let pinged = 0;
  const turnOfPing = (began: number) => pinged * 100 < performance.now() - began && (pinged += 1) > 0;
  async function sendPing({ slug, apiKey }: NonNullable<LoadNeeds["ping"]>): Promise<void> {
    const began = performance.now();
    const status = await post(`/api/heartbeat/${slug}`, "", { "x-api-key": apiKey }).catch(() => null);
    if (status === 200) lap.pings.push(performance.now() - began);
    else lap.refused += 1;
  }

  const running = (async () => {
    const began = performance.now();
    let due = 0;
    for (let number = 0; !stopping.signal.aborted; await wait(TURN_MS)) {
      for (due = ((performance.now() - began) / 1_000) * (eventsPerSecond / EVENTS); number < due; number++) {
        if (inFlight.size < MOST_IN_FLIGHT) track(send(number));
      }
      if (ping && turnOfPing(began)) track(sendPing(ping));
    }
  })();

  return {
    lap() {
      const { answered, refused, latencies, pings } = lap;
      lap = { answered: 0, refused: 0, latencies: [], pings: [] };
      return { answered, refused, p99: quantile(latencies, 0.99), pingP99: quantile(pings, 0.99) };
    },
    settled: () => settled,
    async stop() {
      stopping.abort();
      await running;
      while (inFlight.size > 0) await Promise.all(inFlight);
      await agent.destroy();
    },
  };
}

interface BodyNeeds {
  beaconKey: string;
  first: number;
  named: boolean;
  number: number;
  only: string | undefined;
}

function bodyOf(ledger: Ledger, { beaconKey, first, named, number, only }: BodyNeeds): string {
  const signature = only ?? number % SIGNATURES;
  const session = only ?? `s${number % SESSIONS}`;
  const stack = `Error: ${ledger.name}\n    at step${signature} (https://shop.example/app.js:1:${only ? 1 : Number(signature) + 1})`;
  const events = Array.from({ length: EVENTS }, (_, index) => ({ type: "error", error_type: `Fault${signature}`, message: ledger.name, stack, url: ledger.markOf(first + index), ...(named && { event_id: randomUUID() }) }));
  return JSON.stringify({ key: beaconKey, session_id: session, events });
}
