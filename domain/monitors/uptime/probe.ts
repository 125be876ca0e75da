import { setMaxListeners } from "node:events";
import type { Config } from "../../../platform/config.ts";
import { describeError } from "../../../platform/outbound/describe-error.ts";
import { hostOf, judgeUrl } from "../../../platform/outbound/judge-url.ts";
import { systemResolve, type Resolve } from "../../../platform/outbound/resolve-public.ts";
import { outboundRules, type OutboundConfig } from "../../../platform/outbound/rules.ts";
import { makeStopwatch, type Phase, type Stopwatch } from "../../../platform/outbound/stopwatch.ts";
import { timedRequest, type RequestNeeds, type TimedAnswer } from "../../../platform/outbound/timed-request.ts";
import { trust } from "../../../platform/outbound/trust.ts";
import { isRedirect, nextHop, type Hop } from "./redirect.ts";

/** What is asked for, as a monitor's row has it. */
export interface UptimeTarget {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  /** For everything together. */
  timeoutMs: number;
  /** Empty for any of 200 to 299. */
  expectedStatusCodes: number[];
  requiredKeyword: string | null;
  followRedirects: boolean;
  verifySsl: boolean;
}

/** Times in whole milliseconds, over all redirects; null for what was not reached. */
export interface ProbeResult {
  /** A sentence for the monitor's owner, or null: all is as it should be. */
  error: string | null;
  statusCode: number | null;
  responseTimeMs: number;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
}

/** Never rejects. */
export type UptimeProbe = (target: UptimeTarget, signal?: AbortSignal) => Promise<ProbeResult>;

export type ProbeConfig = OutboundConfig & Pick<Config, "OUTBOUND_CA_FILE">;

const MOST_REDIRECTS = 10;
const KEYWORD_LIMIT = 1_048_576;
const BODY_LIMIT = 65_536;

const LATE: Record<Phase, (host: string) => string> = {
  dns: (host) => `The name ${host} was not looked up`,
  connect: (host) => `No connection to ${host} was made`,
  tls: (host) => `No TLS connection to ${host} was made`,
  first_byte: (host) => `No answer from ${host}`,
  body: (host) => `No complete answer from ${host}`,
};

/** Why a check failed although nothing went wrong on the way; `status` is that of the answer, if there was one. */
class Unwanted extends Error {
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.status = status;
  }
}

/** Makes checks: each over connections of its own, to public addresses or those that the operator allows. */
export function makeUptimeProbe(config: ProbeConfig, resolve: Resolve = systemResolve): UptimeProbe {
  const needs: RequestNeeds = { ...outboundRules(config), secureContext: trust(config.OUTBOUND_CA_FILE), resolve };
  return (target, signal) => probe(target, needs, signal);
}

async function probe(target: UptimeTarget, needs: RequestNeeds, stopped: AbortSignal | undefined): Promise<ProbeResult> {
  const watch = makeStopwatch();
  const limit = new AbortController();
  // Every hop listens.
  setMaxListeners(0, limit.signal);
  const timer = setTimeout(() => limit.abort(new Error("too late")), target.timeoutMs);
  const stop = () => limit.abort(new Error("stopped"));
  stopped?.addEventListener("abort", stop, { once: true });
  if (stopped?.aborted) stop();
  const hops: Hop[] = [];
  try {
    const answer = await follow(target, hops, { needs, watch, signal: limit.signal });
    const error = judgeBody(answer, target.requiredKeyword);
    return outcome(watch, error, answer.status);
  } catch (error) {
    return outcome(watch, sentenceOf(error, { host: hostOf(hops.at(-1)?.url ?? new URL(target.url)), late: limit.signal.aborted, watch, target }), error instanceof Unwanted ? error.status : null);
  } finally {
    clearTimeout(timer);
    stopped?.removeEventListener("abort", stop);
  }
}

interface Following {
  needs: RequestNeeds;
  watch: Stopwatch;
  signal: AbortSignal;
}

/** The answer at the end of all redirects; each hop is noted when it is taken. */
async function follow(target: UptimeTarget, hops: Hop[], { needs, watch, signal }: Following): Promise<TimedAnswer> {
  const wanted = (status: number) => isExpected(status, target.expectedStatusCodes);
  const bodyLimit = target.requiredKeyword === null ? BODY_LIMIT : KEYWORD_LIMIT;
  let hop: Hop = { url: new URL(target.url), method: target.method, headers: target.headers, body: target.body };
  for (;;) {
    const judgement = judgeUrl(hop.url.href, { allowHttp: true, ...needs });
    if (!judgement.ok) throw new Unwanted(`${hops.length > 0 ? `A redirect leads to ${shown(hop.url)}. ` : ""}${judgement.sentence} ${judgement.fix}`, null);
    hops.push(hop);
    const answer = await timedRequest({ ...hop, headers: withOwn(hop.headers), bodyLimit, wanted, verify: target.verifySsl, signal, watch }, needs);
    if (wanted(answer.status)) return answer;
    const { status } = answer;
    const location = answer.headers.location;
    if (!target.followRedirects || !isRedirect(status) || typeof location !== "string") throw new Unwanted(`${hostOf(hop.url)} answered ${status}, not ${expectedText(target.expectedStatusCodes)}.`, status);
    const next = nextHop(hop, status, location);
    if (!next) throw new Unwanted(`${hostOf(hop.url)} redirected to an address that is none.`, status);
    if (hops.some(({ url, method }) => url.href === next.url.href && method === next.method)) throw new Unwanted(`The redirects go in a circle: ${shown(next.url)} comes again.`, status);
    if (hops.length > MOST_REDIRECTS) throw new Unwanted(`There are more than ${MOST_REDIRECTS} redirects.`, status);
    hop = next;
  }
}

function isExpected(status: number, codes: readonly number[]): boolean {
  return codes.length === 0 ? status >= 200 && status <= 299 : codes.includes(status);
}

function expectedText(codes: readonly number[]): string {
  if (codes.length === 0) return "200 to 299";
  return codes.length === 1 ? String(codes[0]) : `one of ${codes.join(", ")}`;
}

/** Without its query, which may hold secrets and is long. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 200);
}

/** The monitor's own headers replace ours, whatever their case. */
function withOwn(headers: Record<string, string>): Record<string, string> {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const ours = { "user-agent": "Pharos-Uptime/1.0", accept: "*/*", "accept-encoding": "identity" };
  return { ...Object.fromEntries(Object.entries(ours).filter(([name]) => !given.has(name))), ...headers };
}

function judgeBody({ body, headers }: TimedAnswer, keyword: string | null): string | null {
  if (keyword === null || decode(body, headers["content-type"]).includes(keyword)) return null;
  return `The answer does not hold the keyword "${keyword.length > 100 ? `${keyword.slice(0, 100)}…` : keyword}".`;
}

function decode(body: Buffer, type: string | string[] | undefined): string {
  const charset = /charset="?([\w-]+)/i.exec(String(type))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return body.toString("utf8");
  }
}

interface Failing {
  host: string;
  late: boolean;
  watch: Stopwatch;
  target: UptimeTarget;
}

function sentenceOf(error: unknown, { host, late, watch, target }: Failing): string {
  if (late) return `${LATE[watch.phase()](host)} within ${target.timeoutMs / 1_000} s.`;
  if (error instanceof Unwanted) return error.message;
  return describeError(error, host);
}

function outcome(watch: Stopwatch, error: string | null, statusCode: number | null): ProbeResult {
  watch.stop();
  return {
    // Postgres' text cannot hold the character NUL.
    error: error?.replaceAll("\0", "\uFFFD") ?? null,
    statusCode,
    responseTimeMs: watch.total(),
    dnsMs: watch.took("dns"),
    connectMs: watch.took("connect"),
    tlsMs: watch.took("tls"),
    firstByteMs: watch.took("first_byte"),
  };
}
