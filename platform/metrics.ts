import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/** What `/metrics` shows, in Prometheus' text form. */
export interface Metrics {
  contentType: string;
  /** All of them. Those of the process itself are there from the first call on. */
  text(): Promise<string>;
  pipelineLag: Gauge<"topic" | "group">;
  deadLetters: Counter<"topic" | "group">;
  /** Answers of the control plane; `status` is a class such as `4xx`, `route` a path as it is declared. */
  httpDuration: Histogram<"method" | "route" | "status">;
  /** What was deleted because its time was over, by table; and when all of it was last looked through, in seconds since 1970. */
  retention: { rows: Counter<"what">; bytes: Counter<"what">; lastRun: Gauge };
  openDeadLetters: Gauge<"topic" | "group">;
  /** Registers a gauge whose value is read when it is asked for; the hot path only keeps a plain number. */
  observe(name: string, help: string, read: () => number): void;
  /** The same of several things of a kind, told apart by their number from 1 under `label`. */
  observeEach(name: string, help: string, label: string, read: () => Promise<number[]>): void;
}

export function makeMetrics(): Metrics {
  const registry = new Registry();
  let ofProcess = false;
  return {
    contentType: registry.contentType,
    text() {
      // Not before somebody asks: watching the event loop's delay wakes a process that rests a hundred times a second.
      if (!ofProcess) collectDefaultMetrics({ register: registry });
      ofProcess = true;
      return registry.metrics();
    },
    pipelineLag: new Gauge({
      name: "pharos_pipeline_lag_events",
      help: "Events in the log that a consumer group has not processed yet: records times the events that its last records held on average.",
      labelNames: ["topic", "group"],
      registers: [registry],
    }),
    deadLetters: new Counter({
      name: "pharos_dead_letter_records_total",
      help: "Records, or entries of records, that could not be processed and became dead letters.",
      labelNames: ["topic", "group"],
      registers: [registry],
    }),
    openDeadLetters: new Gauge({
      name: "pharos_dead_letters_open",
      help: "Dead letters that nobody has replayed or discarded yet. Every processor tells the same number.",
      labelNames: ["topic", "group"],
      registers: [registry],
    }),
    httpDuration: new Histogram({
      name: "pharos_http_request_duration_seconds",
      help: "How long the control plane took from a request's head to the end of its answer, by the route as it is declared.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    retention: {
      rows: new Counter({ name: "pharos_retention_deleted_rows_total", help: "Rows deleted because they were past their retention, or what they belong to was deleted.", labelNames: ["what"], registers: [registry] }),
      bytes: new Counter({ name: "pharos_retention_deleted_bytes_total", help: "Bytes by which ClickHouse's parts shrank with these rows.", labelNames: ["what"], registers: [registry] }),
      lastRun: new Gauge({ name: "pharos_retention_last_run_timestamp_seconds", help: "When this process last looked through everything for what is past its retention; 0 when it never did.", registers: [registry] }),
    },
    observe(name, help, read) {
      const gauge: Gauge = new Gauge({ name, help, registers: [], collect: () => gauge.set(read()) });
      registry.registerMetric(gauge);
    },
    observeEach(name, help, label, read) {
      const gauge = new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [],
        async collect() {
          for (const [n, value] of (await read()).entries()) gauge.set({ [label]: n + 1 }, value);
        },
      });
      registry.registerMetric(gauge);
    },
  };
}
