import { httpRequest } from "./edge-load.ts";
import type { Pipeline } from "./pipeline-stage.ts";

/** A push of three figures within the default thresholds: what is measured is the way of a push, not a change of status. */
export const pushBody = (serviceId: string, number: number): string =>
  JSON.stringify({ service_id: serviceId, metrics: { error_rate: (number % 9) / 10, response_time_ms: 100 + (number % 700), cpu_percent: number % 60 } });

/** A push for each service. */
export function pushRequests({ apiKey, serviceIds }: Pick<Pipeline, "apiKey" | "serviceIds">): Buffer[] {
  return serviceIds.map((serviceId, number) => httpRequest("/api/metrics/ingest", { "X-API-Key": apiKey, "Content-Type": "application/json" }, pushBody(serviceId, number)));
}
