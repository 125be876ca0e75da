import type { Client, Dispatcher } from "undici";
import type { Config } from "../config.ts";
import { makeConnector } from "./connect.ts";
import { describeError } from "./describe-error.ts";
import type { Judgement } from "./judge-address.ts";
import { hostOf, judgeUrl, portOf } from "./judge-url.ts";
import { end, makeKeptConnections, wasClosed } from "./kept-connections.ts";
import { resolvePublic, systemResolve, type Resolve } from "./resolve-public.ts";
import { outboundRules, type OutboundConfig } from "./rules.ts";
import { trust } from "./trust.ts";
import { untilAborted } from "./until-aborted.ts";

interface OutboundRequest {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers: Record<string, string>;
  /** Null sends none. */
  body: string | null;
  /** For everything together: name look-up, connection, TLS and the whole answer. */
  timeoutMs: number;
  /** Gives the request up: its result is then a failure. */
  signal?: AbortSignal;
}

export type OutboundResult =
  | { kind: "response"; status: number; headers: Record<string, string | string[] | undefined>; body: string; durationMs: number }
  /** `error` is a sentence for the person who set the URL. */
  | { kind: "failed"; error: string; durationMs: number };

export interface Outbound {
  /** Sends a request once, following no redirect. Never rejects. Of the answer's body the first 16 KiB are kept. */
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** As `judgeUrl`, by the operator's ranges. */
  judgeUrl(url: string, options: { allowHttp: boolean }): Judgement;
  /** Ends the requests that still run; each then has a result. */
  close(): Promise<void>;
}

interface OutboundNeeds {
  config: OutboundConfig & Pick<Config, "OUTBOUND_CA_FILE">;
  resolve?: Resolve;
}

const BODY_LIMIT = 16_384;
const STOPPED = "Pharos stopped before there was an answer.";

/**
 * The one way out of the house. A request goes to public addresses only, or to those that the operator allows,
 * checked on the address that is connected to. A connection whose answer was read is kept for the next request to its origin, for some
 * seconds; a request that finds it closed goes over another.
 * Throws StartFailure when OUTBOUND_CA_FILE cannot be read.
 */
export function makeOutbound({ config, resolve = systemResolve }: OutboundNeeds): Outbound {
  const rules = outboundRules(config);
  const secureContext = trust(config.OUTBOUND_CA_FILE);
  const connections = makeKeptConnections();
  const running = new Map<AbortController, Promise<OutboundResult>>();

  async function ask(request: OutboundRequest, url: URL, signal: AbortSignal): Promise<Answer> {
    const kept = connections.take(url.origin);
    if (kept) {
      const answer = await sendOver(kept, request, url, signal).catch((error: unknown) => {
        end(kept);
        // Closed by the receiver while it was idle, most likely, before it saw anything of this request.
        if (!signal.aborted && wasClosed(error)) return null;
        throw error;
      });
      if (answer) return readAnswer(kept, url, answer);
    }
    const host = hostOf(url);
    const addresses = await untilAborted(resolvePublic(host, portOf(url), { resolve, ...rules }), signal);
    const fresh = connections.open(url.origin, makeConnector({ host, addresses, allow: rules.allow, secureContext, signal }));
    try {
      return await readAnswer(fresh, url, await sendOver(fresh, request, url, signal));
    } catch (error) {
      end(fresh);
      throw error;
    }
  }

  async function readAnswer(connection: Client, { origin }: URL, { statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answer> {
    try {
      const { text, whole } = await readStart(body);
      if (whole) connections.keep(origin, connection);
      else end(connection);
      return { kind: "response", status: statusCode, headers, body: text };
    } catch (error) {
      end(connection);
      throw error;
    }
  }

  async function send(request: OutboundRequest, abort: AbortController): Promise<OutboundResult> {
    const started = performance.now();
    const duration = () => Math.round(performance.now() - started);
    const timer = setTimeout(() => abort.abort(new Error(`No complete answer within ${request.timeoutMs / 1000} s.`)), request.timeoutMs);
    const giveUp = () => abort.abort(new Error(STOPPED));
    if (request.signal?.aborted) giveUp();
    request.signal?.addEventListener("abort", giveUp, { once: true });
    const judgement = judgeUrl(request.url, { allowHttp: true, ...rules });
    try {
      if (!judgement.ok) return { kind: "failed", error: `${judgement.sentence} ${judgement.fix}`, durationMs: duration() };
      return { ...(await ask(request, new URL(request.url), abort.signal)), durationMs: duration() };
    } catch (error) {
      const reason: unknown = abort.signal.aborted ? abort.signal.reason : null;
      const sentence = reason instanceof Error ? reason.message : describeError(error, hostOf(new URL(request.url)));
      return { kind: "failed", error: storable(sentence), durationMs: duration() };
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", giveUp);
    }
  }

  return {
    send(request) {
      const abort = new AbortController();
      const result = send(request, abort).finally(() => running.delete(abort));
      running.set(abort, result);
      return result;
    },
    judgeUrl: (url, { allowHttp }) => judgeUrl(url, { allowHttp, ...rules }),
    async close() {
      const results = [...running.values()];
      for (const abort of running.keys()) abort.abort(new Error(STOPPED));
      await Promise.all(results);
      await connections.close();
    },
  };
}

type Answer = Omit<OutboundResult & { kind: "response" }, "durationMs">;

function sendOver(connection: Client, { method, headers, body }: OutboundRequest, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return connection.request({ method, path: url.pathname + url.search, headers, body, signal });
}

/** The first 16 KiB; what comes after is not waited for. */
async function readStart(body: AsyncIterable<Buffer>): Promise<{ text: string; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > BODY_LIMIT) break;
  }
  return { text: storable(Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString("utf8")), whole: size <= BODY_LIMIT };
}

/** Postgres' text cannot hold the character NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
