import { Client } from "undici";
import type { Log } from "../log.ts";
import { makeConnector } from "./connect.ts";
import { describeError } from "./describe-error.ts";
import { parseRanges, type Judgement } from "./judge-address.ts";
import { hostOf, judgeUrl } from "./judge-url.ts";
import { resolvePublic, systemResolve, type Resolve } from "./resolve-public.ts";
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
  /** CIDR ranges that may be reached although they are not public. */
  allow: readonly string[];
  /** PEM file of authorities to trust beside the public ones. */
  caFile: string | null;
  log: Log;
  resolve?: Resolve;
}

const BODY_LIMIT = 16_384;
const STOPPED = "Pharos stopped before there was an answer.";

/**
 * The one way out of the house. A request goes to public addresses only, or to those that the operator allows,
 * checked on the address that is connected to. Every request has a connection of its own: none is reused, so none
 * outlives the check that let it through, and none fails because the receiver closed it while it was idle.
 * Throws StartFailure when `caFile` cannot be read.
 */
export function makeOutbound({ allow: allowed, caFile, log, resolve = systemResolve }: OutboundNeeds): Outbound {
  const allow = parseRanges(allowed);
  const secureContext = trust(caFile);
  const running = new Map<AbortController, Promise<OutboundResult>>();

  async function ask(request: OutboundRequest, url: URL, signal: AbortSignal): Promise<Omit<OutboundResult & { kind: "response" }, "durationMs">> {
    const host = hostOf(url);
    const addresses = await untilAborted(resolvePublic(host, { resolve, allow }), signal);
    const connect = makeConnector({ host, addresses, allow, secureContext, signal });
    // The one time limit is `signal`'s.
    const client = new Client(url.origin, { connect, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });
    try {
      const { statusCode, headers, body } = await client.request({ method: request.method, path: url.pathname + url.search, headers: request.headers, body: request.body, signal });
      return { kind: "response", status: statusCode, headers, body: await readStart(body) };
    } finally {
      // Not awaited: with the signal aborted or the answer read there is nothing left to wait for.
      client.destroy().catch((error: unknown) => log.debug({ err: error }, "could not close an outgoing connection"));
    }
  }

  async function send(request: OutboundRequest, abort: AbortController): Promise<OutboundResult> {
    const started = performance.now();
    const duration = () => Math.round(performance.now() - started);
    const timer = setTimeout(() => abort.abort(new Error(`No complete answer within ${request.timeoutMs / 1000} s.`)), request.timeoutMs);
    const giveUp = () => abort.abort(new Error(STOPPED));
    if (request.signal?.aborted) giveUp();
    request.signal?.addEventListener("abort", giveUp, { once: true });
    const judgement = judgeUrl(request.url, { allowHttp: true, allow });
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
    judgeUrl: (url, { allowHttp }) => judgeUrl(url, { allowHttp, allow }),
    async close() {
      const results = [...running.values()];
      for (const abort of running.keys()) abort.abort(new Error(STOPPED));
      await Promise.all(results);
    },
  };
}

/** The first 16 KiB; what comes after is not waited for. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= BODY_LIMIT) break;
  }
  return storable(Buffer.concat(chunks).subarray(0, BODY_LIMIT).toString("utf8"));
}

/** Postgres' text cannot hold the character NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
