import { newId } from "../platform/ids.ts";
import { makeZipf } from "./zipf.ts";

const SIGNATURES = 5_000;
const SESSIONS = 2_000;

interface BodiesNeeds {
  beaconKey: string;
  /** Errors in a body, 0.6 KB and eight frames each. */
  events: number;
  requests: number;
  /** How many different errors there are in them. */
  signatures?: number;
}

/**
 * Bodies of beacons over 5,000 signatures, unless told, by Zipf's law (one is a ninth of all, and
 * most are rare), each of a session and every event with an id, as the browser SDK sends them. Whoever
 * sends a body twice has to give its events new ids, as `load` does: an id that came before would
 * count once.
 */
export function beaconsOf({ beaconKey, events, requests, signatures = SIGNATURES }: BodiesNeeds): string[] {
  const signature = makeZipf(signatures);
  return Array.from({ length: requests }, (_, request) =>
    JSON.stringify({
      key: beaconKey,
      session_id: `s-${request % SESSIONS}`,
      release: "web@4.7.1",
      environment: "production",
      sdk: "pharos-js/1.0.0",
      events: Array.from({ length: events }, () => errorOf(signature())),
    }),
  );
}

function errorOf(signature: number): object {
  const message = `cart ${newId()} has no entry`;
  const frames = Array.from({ length: 8 }, (_, depth) => `    at step${depth}Of${signature} (https://shop.example/a-${depth}.js:${depth + 1}:${signature + 17})`);
  return { event_id: newId(), type: "error", error_type: "TypeError", message, stack: `TypeError: ${message}\n${frames.join("\n")}`, url: "https://shop.example/checkout" };
}
