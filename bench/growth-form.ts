/** How large a side of a comparison is; what is left out is as in the small form of row 16. */
export interface Form {
  name: string;
  /** What is sent: errors, or pushes of metrics over all services. */
  load: "errors" | "pushes";
  partitions: number;
  signatures: number;
  services: number;
  edges: number;
  /** Stored before, in `storedFolder` if that is given. */
  events: number;
  storedFolder: string;
}

/** What is asked of a side. */
export type Ask =
  | { kind: "round"; seconds: number; perSecond: number }
  | { kind: "rest"; seconds: number }
  | { kind: "read"; calls: number }
  | { kind: "stop" };

/** What a side answers. */
export type Answer =
  | { kind: "ready" }
  /** CPU-µs an event, or a push, by process; and the most events that waited at any moment. */
  | { kind: "round"; costs: [string, number][]; lag: number }
  /** CPU-ms a second, by process. */
  | { kind: "rest"; costs: [string, number][] }
  | { kind: "read"; times: { name: string; kind: string; p50: number; p99: number; first: number }[] }
  | { kind: "failed"; reason: string };
