import { createRequire } from "node:module";

/** What kafkajs keeps of a connection's requests, as far as it is used here. */
export interface RequestQueue {
  /** Requests that are not sent yet. */
  pending: object[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);
const { prototype } = require("kafkajs/src/network/requestQueue") as { prototype: RequestQueue };
const schedule = prototype.scheduleCheckPendingRequests;

/**
 * Keeps kafkajs from looking after requests that wait when none does. Version 2.2.4 does so on every
 * connection a thousand times a second (tulios/kafkajs#1704), which costs 3 % of a core at rest.
 * Requests that wait are looked after as before: whoever adds one has a look scheduled.
 */
export function calmQueues(): void {
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
}
