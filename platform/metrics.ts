import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";

/** What `/metrics` shows, in Prometheus' text form. */
export interface Metrics {
  registry: Registry;
  pipelineLag: Gauge<"topic" | "group">;
  deadLetters: Counter<"topic" | "group">;
  /** Registers a gauge whose value is read when it is asked for; the hot path only keeps a plain number. */
  observe(name: string, help: string, read: () => number): void;
}

export function makeMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    pipelineLag: new Gauge({
      name: "pharos_pipeline_lag_events",
      help: "Events in the log that a consumer group has not processed yet: records times the events that its last records held on average.",
      labelNames: ["topic", "group"],
      registers: [registry],
    }),
    deadLetters: new Counter({
      name: "pharos_dead_letter_records_total",
      help: "Records that could not be processed and were put on the dead-letter topic.",
      labelNames: ["topic", "group"],
      registers: [registry],
    }),
    observe(name, help, read) {
      const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(read()) });
      registry.registerMetric(gauge);
    },
  };
}
