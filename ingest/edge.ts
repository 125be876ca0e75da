import { App, us_listen_socket_close, us_socket_local_port, type HttpRequest, type HttpResponse, type us_listen_socket } from "uWebSockets.js";
import { vouchedAddress } from "../platform/client-address.ts";
import { Failure } from "../platform/failures.ts";
import { StartFailure } from "../platform/start-failure.ts";
import { acceptBeacon, noLimitAt } from "./accept-beacon.ts";
import { acceptHeartbeat, answerHeartbeat } from "./accept-heartbeat.ts";
import { acceptMetrics } from "./accept-metrics.ts";
import { isStrangerLet } from "./authenticate.ts";
import type { Probes } from "../platform/probes.ts";
import { openExchange, type Door, type Exchange } from "./exchange.ts";
import type { EdgeNeeds } from "./settle.ts";

export interface Edge {
  port: number;
  /** Requests taken in and not answered yet. */
  inFlight(): number;
  /** Takes no new connections, then answers every request that was taken in. */
  stop(): Promise<void>;
}

const BEACON = "/api/beacon";

/** How long a stop waits for requests that were begun. */
const FINISH_MS = 5_000;

const CORS_PREFLIGHT: readonly [string, string][] = [
  ["Access-Control-Allow-Methods", "POST"],
  ["Access-Control-Allow-Headers", "Content-Type, Content-Encoding, X-Request-Id"],
  ["Access-Control-Max-Age", "86400"],
];

/** Listens for the three ingest endpoints. Throws StartFailure when the port is taken. */
export async function startEdge(needs: EdgeNeeds, probes: Probes): Promise<Edge> {
  let open = 0;
  let idle: (() => void) | null = null;
  let closing = false;
  const door: Door = {
    onEnd() {
      open -= 1;
      if (open === 0) idle?.();
    },
    closing: () => closing,
  };

  function begin(response: HttpResponse, request: HttpRequest): Exchange {
    open += 1;
    return openExchange(response, request, door);
  }

  const app = App();
  // Who joins addresses by hand often leaves a slash at the end.
  for (const end of ["", "/"]) {
    app.options(BEACON + end, (response, request) => {
      const exchange = begin(response, request);
      exchange.openToOrigins = true;
      exchange.rate = noLimitAt(needs.clock.now());
      exchange.reply(204, "", CORS_PREFLIGHT);
    });
    app.post(BEACON + end, (response, request) => acceptBeacon(needs, response, request, begin(response, request)));
    app.post(`/api/metrics/ingest${end}`, (response, request) => acceptMetrics(needs, response, request, begin(response, request)));
    app.post(`/api/heartbeat/:monitor${end}`, (response, request) => {
      const monitor = request.getParameter(0) ?? "";
      acceptHeartbeat(needs, response, request, begin(response, request), monitor);
    });
    app.get(`/api/heartbeat/:monitor${end}`, (response, request) => {
      const monitor = request.getParameter(0) ?? "";
      answerHeartbeat(needs, request, begin(response, request), monitor);
    });
  }
  app.any("/*", (response, request) => {
    const method = request.getMethod().toUpperCase();
    const path = request.getUrl().replace(/(?<=.)\/$/, "");
    const exchange = begin(response, request);
    exchange.forwardedFor = request.getHeader("x-forwarded-for");
    if (method !== "GET" || path.startsWith("/api/")) return refuse(needs, exchange, method, path);
    probes(path, vouchedAddress(needs.clientAddress, exchange.socketAddress(), exchange.forwardedFor || undefined)).then(
      (answer) => (answer ? exchange.reply(answer.status, answer.body, [], answer.contentType) : refuse(needs, exchange, method, path)),
      (error: unknown) => exchange.fail(needs.failureOf(error, exchange)),
    );
  });

  const socket = await new Promise<us_listen_socket | false>((resolve) => app.listen(needs.config.HOST, needs.config.EDGE_PORT, resolve));
  if (!socket) throw new StartFailure(`Port ${needs.config.EDGE_PORT} on ${needs.config.HOST} is taken, or this user may not listen there.`, { fix: "Set EDGE_PORT to a free port." });

  return {
    port: us_socket_local_port(socket),
    inFlight: () => open,
    async stop() {
      closing = true;
      us_listen_socket_close(socket);
      if (open > 0) {
        // What has come whole is answered within this time; a sender who is still at its body is cut off and may send again.
        const limit = setTimeout(() => app.close(), FINISH_MS);
        await new Promise<void>((resolve) => (idle = resolve));
        clearTimeout(limit);
      }
      app.close();
    },
  };
}

const METHODS: { pattern: RegExp; allow: string }[] = [
  { pattern: /^\/api\/beacon$/, allow: "POST, OPTIONS" },
  { pattern: /^\/api\/metrics\/ingest$/, allow: "POST" },
  { pattern: /^\/api\/heartbeat\/[^/]+$/, allow: "GET, POST" },
  { pattern: /^\/(livez|readyz|metrics)$/, allow: "GET" },
];

/** 405 or 404; whoever asks counts by its address, except at the beacon, which has no limit. */
function refuse(needs: EdgeNeeds, exchange: Exchange, method: string, path: string): void {
  if (path === BEACON) {
    exchange.openToOrigins = true;
    exchange.rate = noLimitAt(needs.clock.now());
  } else if (!isStrangerLet(needs, exchange)) return;
  const known = METHODS.find(({ pattern }) => pattern.test(path));
  if (known) exchange.fail(new Failure("METHOD_NOT_ALLOWED", `${method} is not offered here.`, { fix: `Use ${known.allow}.` }), [["Allow", known.allow]]);
  else exchange.fail(new Failure("NOT_FOUND", "There is nothing at this address.", { fix: "This port takes in /api/beacon, /api/metrics/ingest and /api/heartbeat/{monitor}." }));
}
