import type { SecureContext } from "node:tls";
import { Client } from "undici";
import { makeConnector } from "./connect.ts";
import { hostOf, portOf } from "./judge-url.ts";
import { resolvePublic, type Resolve } from "./resolve-public.ts";
import type { OutboundRules } from "./rules.ts";
import type { Stopwatch } from "./stopwatch.ts";
import { untilAborted } from "./until-aborted.ts";

export interface TimedRequest {
  /** Judged before; its name's addresses are judged here. */
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  /** Bytes of the answer's body that are waited for; for a status that `wanted` refuses, none. */
  bodyLimit: number;
  wanted(status: number): boolean;
  /** False accepts any certificate. */
  verify: boolean;
  /** The one time limit. */
  signal: AbortSignal;
  /** Hears of each phase. */
  watch: Stopwatch;
}

export interface TimedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface RequestNeeds extends OutboundRules {
  secureContext: SecureContext;
  resolve: Resolve;
}

/** Made once: a stack for each request would cost more than closing it. */
const OVER = new Error("The request is over.");

/** One request over a connection of its own, following no redirect. Rejects with what went wrong, or with the signal's reason. */
export async function timedRequest(request: TimedRequest, { secureContext, resolve, ...rules }: RequestNeeds): Promise<TimedAnswer> {
  const { url, method, headers, body, verify, signal, watch } = request;
  const host = hostOf(url);
  watch.enter("dns");
  const addresses = await untilAborted(resolvePublic(host, portOf(url), { resolve, ...rules }), signal);
  watch.enter("connect");
  const onStep = (step: "connected" | "secured") => watch.enter(step === "connected" && url.protocol === "https:" ? "tls" : "first_byte");
  const connect = makeConnector({ host, addresses, allow: rules.allow, secureContext, signal, verify, onStep });
  const client = new Client(url.origin, { connect, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });
  try {
    const answer = await client.request({ method, path: url.pathname + url.search, headers, body, signal, reset: true });
    watch.enter("body");
    const limit = request.wanted(answer.statusCode) ? request.bodyLimit : 0;
    return { status: answer.statusCode, headers: answer.headers, body: limit > 0 ? await readStart(answer.body, limit) : Buffer.alloc(0) };
  } finally {
    watch.stop();
    // Not awaited: with the signal aborted or the answer read there is nothing left to wait for. What is still unread fails with it, which nobody needs to hear.
    client.destroy(OVER).catch(() => undefined);
  }
}

async function readStart(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
