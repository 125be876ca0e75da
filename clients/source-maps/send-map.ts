import { openAsBlob } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** Where `npm start` serves everything. */
export const DEFAULT_URL = "http://127.0.0.1:8080";

/** Without a slash at its end; null when it is no address of the web. */
export function serviceUrlOf(text: string): string | null {
  return URL.canParse(text) && /^https?:\/\//i.test(text) ? text.replace(/\/+$/, "") : null;
}

/** Which Pharos takes the maps, and for what. */
export interface Target {
  /** Of Pharos, without `/api/v1`, as `serviceUrlOf` gives it. */
  url: string;
  apiKey: string;
  serviceId: string;
  release: string;
}

/** `fatal`: every other map would meet the same. */
type Sent = { kind: "sent"; debugId: string | null } | { kind: "refused"; reason: string; fatal: boolean };

type Attempt = Sent | { kind: "again"; reason: string; retryAfter: string | null };

const ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 120_000;

/**
 * Uploads one map, read from the disk as it is sent. Tries up to five times when the network fails or the answer is 408, 429 or 5xx, after the
 * time that `Retry-After` names or else twice as long each time. Rejects only when `signal` is aborted.
 */
export async function sendMap(target: Target, { file, url }: { file: string; url: string }, signal: AbortSignal): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    const result = await sendOnce(target, { file, url }, signal);
    if (result.kind !== "again") return result;
    const wait = retryWaitMs(attempt, result.retryAfter, { now: Date.now(), random: Math.random() });
    if (attempt === ATTEMPTS || wait === null) return { kind: "refused", reason: `${result.reason} Tried ${attempt === 1 ? "once" : `${attempt} times`}.`, fatal: false };
    await setTimeout(wait, undefined, { signal });
  }
}

/** Milliseconds until the next try after `attempt` tries; null when the service names a time too far away to wait for. */
export function retryWaitMs(attempt: number, retryAfter: string | null, { now, random }: { now: number; random: number }): number | null {
  const named = retryAfter === null ? Number.NaN : /^\d+$/.test(retryAfter.trim()) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  if (Number.isNaN(named)) return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random / 2);
  // A little later for each, so that maps that were refused together do not come back together.
  return named > LONGEST_WAIT_MS ? null : Math.max(0, named) + random * 250;
}

async function sendOnce(target: Target, { file, url }: { file: string; url: string }, signal: AbortSignal): Promise<Attempt> {
  const address = `${target.url}/api/v1/sourcemaps`;
  const form = new FormData();
  for (const [name, value] of Object.entries({ url, release: target.release, service_id: target.serviceId })) form.append(name, value);
  form.append("file", await openAsBlob(file, { type: "application/json" }), "map");
  try {
    // A redirect would take the key to another host, and make of the upload a GET.
    const response = await fetch(address, { method: "POST", headers: { "X-API-Key": target.apiKey }, body: form, redirect: "manual", signal });
    return await judge(response, address);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "again", reason: `${target.url} does not answer (${causeOf(error)}).`, retryAfter: null };
  }
}

async function judge(response: Response, address: string): Promise<Attempt> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) return { kind: "refused", reason: `${address} redirects to ${headers.get("location") ?? "nowhere"}: name that service's address as PHAROS_URL.`, fatal: true };
  const body = parse(await response.text());
  if (response.ok) {
    if (body?.sourcemap) return { kind: "sent", debugId: body.sourcemap.debug_id ?? null };
    return { kind: "refused", reason: `${address} answers ${status}, but not as Pharos does: is PHAROS_URL right?`, fatal: true };
  }
  const reason = body?.error ? [body.error, body.fix].filter(Boolean).join(" ") : `${address} answers ${status}.`;
  if (status === 408 || status === 429 || status >= 500) return { kind: "again", reason, retryAfter: headers.get("retry-after") };
  return { kind: "refused", reason, fatal: status === 401 || status === 403 };
}

interface AnswerBody {
  error?: string;
  fix?: string;
  sourcemap?: { debug_id?: string | null };
}

function parse(text: string): AnswerBody | null {
  try {
    return JSON.parse(text) as AnswerBody | null;
  } catch {
    return null;
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause && typeof cause.code === "string" ? cause.code : cause.message) : String(cause);
}
