import { setTimeout as wait } from "node:timers/promises";
import { load } from "./edge-load.ts";
import type { Pipeline } from "./pipeline-stage.ts";

interface SaturationNeeds {
  /** Beacons of `events` events each. */
  requests: Buffer[];
  events: number;
  connections: number;
  seconds: number;
}

/** Events a second that the whole pipeline carries: taken in and counted, not only taken in. */
export async function measureSaturation(
  { edgePort: port, counted }: Pick<Pipeline, "edgePort" | "counted">,
  { requests, events, connections, seconds }: SaturationNeeds,
): Promise<number> {
  const before = await counted();
  const began = performance.now();
  const { taken } = await load({ port, connections, requests, ms: seconds * 1_000 });
  while ((await counted()) < before + taken * events) await wait(50);
  return (taken * events * 1_000) / (performance.now() - began);
}
