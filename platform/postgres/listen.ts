import { Socket } from "node:net";
import { setTimeout as rest } from "node:timers/promises";
import { Client } from "pg";
import type { Log } from "../log.ts";

interface ListenNeeds {
  connectionString: string;
  channel: string;
  /** With what was announced; without it after each connection is made: what was announced before it was not heard. */
  onNotify: (payload?: string) => void;
  log: Log;
  /** How long to wait before each next attempt to connect; the last one for ever. */
  pausesMs?: readonly number[];
}

export interface Listening {
  stop(): Promise<void>;
}

const PAUSES_MS = [50, 100, 250, 500, 1_000, 2_000, 5_000];

/**
 * LISTENs on a connection of its own and connects again, for ever, when it is lost. A notification can still be
 * missed (a cut that nobody noticed), so whoever listens also looks by itself now and then.
 */
export function listenTo({ connectionString, channel, onNotify, log, pausesMs = PAUSES_MS }: ListenNeeds): Listening {
  const stopping = new AbortController();
  let socket: Socket | null = null;
  let attempt = 0;

  /** Resolves when the connection is gone, for whatever reason. */
  async function listenOnce(): Promise<void> {
    // Its own, because pg's `end` waits for ever while it is still connecting.
    const stream = new Socket();
    const connection = new Client({ connectionString, application_name: "pharos listen", keepAlive: true, connectionTimeoutMillis: 5_000, stream: () => stream });
    const ended = new Promise<void>((resolve) => {
      connection.once("end", resolve);
      connection.on("error", (error) => {
        log.debug({ err: error.message, channel }, "listening connection lost");
        resolve();
      });
    });
    connection.on("notification", ({ payload }) => onNotify(payload ?? ""));
    socket = stream;
    try {
      await connection.connect();
      await connection.query(`listen ${connection.escapeIdentifier(channel)}`);
      attempt = 0;
      if (!stopping.signal.aborted) onNotify();
      await ended;
    } finally {
      socket = null;
      stream.destroy();
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await listenOnce().catch((error: unknown) => log.debug({ err: error, channel, attempt }, "could not listen; trying again"));
      await rest(pausesMs[Math.min(attempt++, pausesMs.length - 1)], undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      socket?.destroy();
      await running;
    },
  };
}
