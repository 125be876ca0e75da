import { createDemo } from "../domain/organizations/create-demo.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config.ts";
import { makeDueLooks } from "../platform/due-looks.ts";
import { makeLifecycle } from "../platform/lifecycle.ts";
import type { Log } from "../platform/log.ts";
import { makeMetrics } from "../platform/metrics.ts";
import { makeProbes } from "../platform/probes.ts";
import { requireFreePort } from "../platform/require-free-port.ts";
import { chooseEdgeThreads, ownMachine } from "./choose-edge-threads.ts";
import { startControlPlaneRole } from "./control-plane.ts";
import { startEdgeRole } from "./edge.ts";
import { startEdgeThreads } from "./edge-threads.ts";
import type { House } from "./house.ts";
import { startProbesServer } from "./probes-server.ts";
import { startProcessorRole } from "./processor.ts";
import { startSchedulerRole } from "./scheduler.ts";
import { openStores, takeDataFolder } from "./stores.ts";

export type Demo = NonNullable<Awaited<ReturnType<typeof createDemo>>>;

/** A running Pharos. */
export interface Pharos {
  /** Where the whole specification is served; null without the control plane. */
  baseUrl: string | null;
  /** Where the ingest endpoints are served at full speed; null without the edge. */
  edgeUrl: string | null;
  /** The demo organization with its key, on the first start only. */
  demo: Demo | null;
  house: House;
  /** Answers what was accepted, drains, closes the stores. Never rejects. */
  stop(): Promise<void>;
  /** Ends child processes at once, for a stop that may not wait. */
  abandon(): void;
}

interface StartNeeds {
  config: Config;
  log: Log;
  clock?: Clock;
  /** An embedded store ended by itself. */
  onLost(sentence: string): void;
}

/** Opens the stores, then starts the chosen roles: consumers before the doors, so that what is taken in is read at once. */
export async function startPharos({ config, log, clock = systemClock, onLost }: StartNeeds): Promise<Pharos> {
  const lifecycle = makeLifecycle(log);
  const metrics = makeMetrics();
  const probes = makeProbes({ lifecycle, metrics, metricsAllow: config.METRICS_ALLOW });
  try {
    const dataFolder = await takeDataFolder(config, lifecycle);
    await requireFreePorts(config);
    const stores = await openStores({ config, clock, log, lifecycle, onLost });
    const looks = makeDueLooks({ database: stores.lookingDatabase, clock, log, everyMs: config.SCHEDULER_TICK_MS });
    const house: House = { config, clock, log, lifecycle, metrics, probes, ...stores, looks };
    const plays = (role: (typeof config.PHAROS_ROLES)[number]) => config.PHAROS_ROLES.includes(role);
    const demo = config.DEMO && plays("control-plane") ? await createDemo(house.database) : null;

    if (plays("processor")) await startProcessorRole(house);
    if (plays("scheduler")) startSchedulerRole(house);
    // A clock that is not the system's, as tests have one, does not go to another thread.
    const threads = clock === systemClock ? (config.EDGE_THREADS ?? chooseEdgeThreads({ roles: config.PHAROS_ROLES, ...ownMachine() })) : 0;
    const startEdge = () => (threads > 0 ? startEdgeThreads({ ...house, threads, onLost }) : startEdgeRole(house));
    const edge = plays("edge") ? await startEdge() : null;
    const controlPlane = plays("control-plane") ? await startControlPlaneRole(house, edge) : null;
    if (!controlPlane && (plays("processor") || plays("scheduler"))) await startProbesServer(house);

    const host = config.HOST.includes(":") ? `[${config.HOST}]` : config.HOST;
    const named = host === "0.0.0.0" || host === "[::]" || host === "127.0.0.1" ? "localhost" : host;
    const baseUrl = controlPlane ? (config.PUBLIC_URL ?? `http://${named}:${controlPlane.port}`) : null;
    const edgeUrl = edge ? `http://${named}:${edge.port}` : null;
    dataFolder?.describe({ port: controlPlane?.port ?? null, edgePort: edge?.port ?? null });
    return { baseUrl, edgeUrl, demo, house, stop: () => lifecycle.stop(), abandon: stores.abandon };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** A taken port is told before databases are started for nothing. */
async function requireFreePorts({ HOST, PORT, EDGE_PORT, PHAROS_ROLES }: Config): Promise<void> {
  if (PORT !== 0 && PHAROS_ROLES.some((role) => role !== "edge")) await requireFreePort("PORT", HOST, PORT);
  if (EDGE_PORT !== 0 && PHAROS_ROLES.includes("edge")) await requireFreePort("EDGE_PORT", HOST, EDGE_PORT);
}
