import { Client } from "undici";
import type { buildConnector } from "undici";

export interface KeptConnections {
  /** A connection to this origin that stands and is idle, or null. It is the caller's until `keep`. */
  take(origin: string): Client | null;
  /** Keeps a connection whose last answer was read to its end. */
  keep(origin: string, connection: Client): void;
  /** A connection that `connect` makes with its first request, and never again. */
  open(origin: string, connect: buildConnector.connector): Client;
  /** Ends those that are idle. */
  close(): Promise<void>;
}

/** Made once: a stack for each would cost more than closing. */
const OVER = new Error("The connection is not needed any more.");
const CLOSED = Object.assign(new Error("The receiver closed the connection."), { code: "ECONNRESET" });

/** A receiver that says how long it waits is taken at its word up to the longest. Node's own servers wait 5 s. */
const IDLE_MS = { usual: 4_000, longest: 30_000 };
const MOST_IDLE = { ofOrigin: 200, inAll: 500 };

/**
 * Connections that are idle for a moment, by origin. A connection leads to the address that was judged when it was made, however its name
 * changes; it is only ever used for its origin, whose certificate was checked.
 */
export function makeKeptConnections(): KeptConnections {
  const idle = new Map<string, Client[]>();
  let count = 0;

  function forget(origin: string, connection: Client): void {
    const kept = idle.get(origin);
    const at = kept?.indexOf(connection) ?? -1;
    if (at === -1) return;
    kept!.splice(at, 1);
    count--;
    if (kept!.length === 0) idle.delete(origin);
  }

  return {
    take(origin) {
      // The last that was used is the least likely to be closed by now.
      const connection = idle.get(origin)?.at(-1) ?? null;
      if (connection) forget(origin, connection);
      return connection;
    },
    keep(origin, connection) {
      const kept = idle.get(origin) ?? [];
      if (connection.closed || connection.destroyed || kept.length >= MOST_IDLE.ofOrigin || count >= MOST_IDLE.inAll) return end(connection);
      idle.set(origin, kept);
      kept.push(connection);
      count++;
    },
    open(origin, connect) {
      let used = false;
      const once: buildConnector.connector = (options, callback) => {
        // undici would connect again by itself, to what was judged a while ago.
        if (used) return callback(CLOSED, null);
        used = true;
        return connect(options, callback);
      };
      // The one time limit is the request's.
      const connection = new Client(origin, { connect: once, headersTimeout: 0, bodyTimeout: 0, pipelining: 1, keepAliveTimeout: IDLE_MS.usual, keepAliveMaxTimeout: IDLE_MS.longest });
      connection.once("disconnect", () => {
        forget(origin, connection);
        // Whoever took it just now hears that it is closed.
        end(connection, CLOSED);
      });
      return connection;
    },
    async close() {
      const all = [...idle.values()].flat();
      idle.clear();
      count = 0;
      await Promise.all(all.map((connection) => connection.destroy(OVER)));
    },
  };
}

/** Ends a connection that nobody waits for any more. */
export function end(connection: Client, reason = OVER): void {
  connection.destroy(reason).catch(() => undefined);
}

/** Whether a request over a kept connection failed because the receiver had closed that in the meantime, or did so without a word. */
export function wasClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(String(error.code));
}
