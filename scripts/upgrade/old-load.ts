import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { startLoad } from "../../faults/load.ts";
import type { Ledger } from "../../testing/ledger.ts";
import type { ServiceProcess } from "../../testing/service-process.ts";

/** Keys and names that the load needs. */
interface LoadTenant {
  apiKey: string;
  beaconKey: string;
  serviceId: string;
  monitor: string;
}

/** Requests of one kind: those that were answered, and those of which nobody knows. */
interface Sent {
  acked: number;
  unsure: number;
}

/** Beacons, pushes and pings for a service that is killed and started again meanwhile. */
export interface OldLoad {
  pushes: Sent;
  pings: Sent;
  /** The service was started at another address. */
  moveTo(service: ServiceProcess): void;
  /** The service is gone for good: sends and repeats nothing more; resolves when all is given up. */
  stop(): Promise<void>;
}

const EVENTS_PER_SECOND = 1_000;
const PUSH_EVERY_MS = 20;
/** Name of the metric that is pushed, and message of the pings. */
export const LOADED = "loaded";

/** Starts it; `ledger` has what became of each event. */
export function startOldLoad(service: ServiceProcess, tenant: LoadTenant, ledger: Ledger): OldLoad {
  const edges = [service.edge];
  const agent = new Agent({ connections: 20, pipelining: 1 });
  const stopping = new AbortController();
  const [pushes, pings]: [Sent, Sent] = [{ acked: 0, unsure: 0 }, { acked: 0, unsure: 0 }];
  const inFlight = new Set<Promise<void>>();
  const load = startLoad({ edges, beaconKey: tenant.beaconKey, ledger, eventsPerSecond: EVENTS_PER_SECOND, gone: stopping.signal });

  async function post(path: string, body: object, sent: Sent): Promise<void> {
    try {
      const answer = await request(`${edges[0]}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "x-api-key": tenant.apiKey, "content-type": "application/json" },
        dispatcher: agent,
      });
      await answer.body.dump();
      if (answer.statusCode < 300) sent.acked += 1;
      else sent.unsure += 1;
    } catch {
      sent.unsure += 1;
    }
  }

  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      track(post("/api/metrics/ingest", { service_id: tenant.serviceId, metrics: { [LOADED]: 1 } }, pushes));
      track(post(`/api/heartbeat/${tenant.monitor}`, { status: "log", message: LOADED, run_id: randomUUID() }, pings));
      await wait(PUSH_EVERY_MS);
    }
  })();

  return {
    pushes,
    pings,
    moveTo({ edge }) {
      edges[0] = edge;
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.all([load.stop(), ...inFlight]);
      await agent.destroy();
    },
  };
}
