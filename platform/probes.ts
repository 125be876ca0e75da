import ipaddr from "ipaddr.js";
import type { Lifecycle } from "./lifecycle.ts";
import type { Metrics } from "./metrics.ts";

export interface ProbeAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** Answers `/livez`, `/readyz` and `/metrics`; null for any other path. `address` is the client's. */
export type Probes = (path: string, address: string) => Promise<ProbeAnswer | null>;

export function makeProbes({ lifecycle, metrics, metricsAllow }: { lifecycle: Lifecycle; metrics: Metrics; metricsAllow: string[] }): Probes {
  const allowed = metricsAllow.map((text) => ipaddr.parseCIDR(text.includes("/") ? text : `${text}/${ipaddr.parse(text).kind() === "ipv4" ? 32 : 128}`));

  return async (path, address) => {
    if (path === "/livez") return { status: 200, contentType: "application/json; charset=utf-8", body: '{"status":"alive"}' };
    if (path === "/readyz") {
      const unready = await lifecycle.unready();
      const ready = Object.keys(unready).length === 0;
      return { status: ready ? 200 : 503, contentType: "application/json; charset=utf-8", body: JSON.stringify(ready ? { status: "ready" } : { status: "not ready", unready }) };
    }
    if (path !== "/metrics") return null;
    if (!isAllowed(address)) return { status: 403, contentType: "text/plain; charset=utf-8", body: "Only addresses in METRICS_ALLOW may read this.\n" };
    return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
  };

  function isAllowed(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return allowed.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }
}
