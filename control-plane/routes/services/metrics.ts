import { readMetrics } from "../../../domain/services/read-metrics.ts";
import { MetricsQuery, MetricsSeries } from "../../../schemas/api/services.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const metrics = route({
  method: "GET",
  path: "/services/:id/metrics",
  scope: "services:read",
  tag: "Services",
  summary: "Read what was pushed for a service",
  description: "One series for each metric, of at most 10,000 steps each and 100,000 points in all.",
  params: PathId,
  query: MetricsQuery,
  response: MetricsSeries,
  handle: ({ params, query, actor, needs }) => readMetrics(needs, actor.organizationId, params.id, query, new Date(needs.clock.now())),
});
