import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../bench/measuring.ts";

interface FreshnessNeeds {
  /** Where marked events are sent, and where GET /errors is asked. */
  edge: string;
  base: string;
  /** An organization that has no other events. */
  organization: { beaconKey: string; apiKey: string };
  /** Marked events come in turn from these sessions, and so from their partitions. */
  sessions: readonly string[];
}

/** How long marked events took from their sending until GET /errors showed them, since the lap before; ms. */
export interface FreshnessLap {
  samples: number;
  p50: number;
  p99: number;
  longest: number;
}

export interface Freshness {
  lap(): FreshnessLap;
  stop(): Promise<void>;
}

const SEND_MS = 50;
const LOOK_MS = 20;

/**
 * Sends marked events at a steady rate, whatever becomes of them, and looks when each is counted. Each session has a
 * signature of its own, whose events are counted in order: so each mark is known by its number.
 */
export function watchFreshness({ edge, base, organization, sessions }: FreshnessNeeds): Freshness {
  const { beaconKey, apiKey } = organization;
  const stopping = new AbortController();
  const waiting = new Map(sessions.map((session) => [session, { counted: 0, since: [] as number[] }]));
  const inFlight = new Set<Promise<void>>();
  let took: number[] = [];

  async function send(session: string): Promise<void> {
    const stack = `Error: mark\n    at mark (https://shop.example/${session}.js:1:1)`;
    const event = { type: "error", error_type: session, message: session, stack };
    const body = JSON.stringify({ key: beaconKey, session_id: session, events: [event] });
    const began = performance.now();
    const answer = await fetch(`${edge}/api/beacon`, { method: "POST", body }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 202) waiting.get(session)!.since.push(began);
  }

  async function sendAll(): Promise<void> {
    const began = performance.now();
    for (let number = 0; !stopping.signal.aborted; await wait(SEND_MS / 2)) {
      for (; number * SEND_MS < performance.now() - began; number++) {
        const sending = send(sessions[number % sessions.length]!).finally(() => inFlight.delete(sending));
        inFlight.add(sending);
      }
    }
  }

  async function look(): Promise<void> {
    for (; !stopping.signal.aborted; await wait(LOOK_MS)) {
      for (const [session, occurrences] of await countByType(base, apiKey)) {
        const mark = waiting.get(session)!;
        const seen = mark.since.splice(0, occurrences - mark.counted);
        mark.counted += seen.length;
        took.push(...seen.map((since) => performance.now() - since));
      }
    }
  }

  const watching = Promise.all([sendAll(), look()]);
  return {
    lap() {
      const open = [...waiting.values()].flatMap(({ since }) => since.map((each) => performance.now() - each));
      const samples = took;
      took = [];
      return { samples: samples.length, p50: quantile(samples, 0.5), p99: quantile(samples, 0.99), longest: Math.max(...samples, ...open) };
    },
    async stop() {
      stopping.abort();
      await watching;
      await Promise.all(inFlight);
    },
  };
}

/** Occurrences of each type of error; empty while the API does not answer. */
async function countByType(base: string, apiKey: string): Promise<Map<string, number>> {
  try {
    const response = await fetch(`${base}/api/v1/errors?limit=100`, { headers: { "X-API-Key": apiKey } });
    if (!response.ok) return new Map();
    const { errors } = (await response.json()) as { errors: { type: string; occurrences: number }[] };
    return new Map(errors.map(({ type, occurrences }) => [type, occurrences]));
  } catch {
    return new Map();
  }
}
