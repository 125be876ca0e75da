import type { Config } from "../../../platform/config.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { WorkflowStep } from "../../../schemas/api/workflows.ts";
import { storableJson } from "../../events/storable-json.ts";
import { cutWhole } from "../../cut-whole.ts";
import { isSecretName } from "../../secret-names.ts";
import { makeTemplateFiller, StepFailure, type Scope } from "./fill-templates.ts";

export type RequestStep = Extract<WorkflowStep, { type: "http_request" }>;

/** What a request brought. `shown` is what the trace may hold of it. */
export type Requested =
  | { kind: "answered"; result: Record<string, unknown>; shown: Record<string, unknown> }
  /** It may go well if it is tried again. */
  | { kind: "failed"; error: string; shown: Record<string, unknown> }
  | { kind: "stopped" };

interface RequestNeeds {
  outbound: Outbound;
  config: Pick<Config, "WEBHOOK_ALLOW_HTTP">;
  signal: AbortSignal;
}

const USUAL_TIMEOUT_MS = 10_000;
const PRINTABLE = /^[\t\x20-\x7e]*$/;
const SHOWN_BODY = 2_048;
/** Of what is filled in, and of a body as it is sent. */
const MOST_BYTES = 262_144;

/** A request as it is sent. StepFailure for a URL that may not be called, a header that cannot be sent, and one that is too large. */
export function prepareRequest(step: RequestStep, scope: Scope, { outbound, config }: Pick<RequestNeeds, "outbound" | "config">) {
  const fill = makeTemplateFiller(scope, MOST_BYTES);
  const url = fill.url(step.url);
  const judgement = outbound.judgeUrl(url, { allowHttp: config.WEBHOOK_ALLOW_HTTP });
  if (!judgement.ok) throw new StepFailure(`${judgement.sentence} ${judgement.fix}`);
  const headers: Record<string, string> = { "user-agent": "Pharos-Workflows/1.0" };
  const secrets: string[] = [];
  for (const [name, template] of Object.entries(step.headers ?? {})) {
    const value = fill.text(template);
    if (!PRINTABLE.test(value)) throw new StepFailure(`The header ${name} holds characters that a header cannot have.`);
    headers[name.toLowerCase()] = value;
    if (isSecretName(name)) secrets.push(value, ...value.split(/\s+/).slice(1));
  }
  const { body } = step;
  const isText = typeof body === "string";
  if (body !== undefined) headers["content-type"] ??= isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
  const text = body === undefined ? null : isText ? fill.text(body) : JSON.stringify(fill.value(body));
  if (text !== null && Buffer.byteLength(text) > MOST_BYTES) throw new StepFailure(`The body is larger than ${MOST_BYTES / 1_024} KiB.`);
  return { method: step.method, url, headers, body: step.method === "GET" || step.method === "HEAD" ? null : text, timeoutMs: step.timeout_ms ?? USUAL_TIMEOUT_MS, secrets: secrets.filter((each) => each.length >= 6) };
}

/** Sends it once. No answer, 429 and 500 to 599 count as failed; every other answer is a result that a condition may look at. */
export async function sendRequest(request: ReturnType<typeof prepareRequest>, key: string, { outbound, signal }: Pick<RequestNeeds, "outbound" | "signal">): Promise<Requested> {
  const { method, url, headers, body, timeoutMs } = request;
  const answer = await outbound.send({ method, url, headers: { "idempotency-key": key, ...headers }, body, timeoutMs, signal });
  const asked = { method, url: shownUrl(url) };
  if (answer.kind === "failed") return signal.aborted ? { kind: "stopped" } : { kind: "failed", error: answer.error, shown: { ...asked, duration_ms: answer.durationMs } };
  const shown = { ...asked, status: answer.status, duration_ms: answer.durationMs, body: cutWhole(answer.body, SHOWN_BODY) };
  if (answer.status === 429 || answer.status >= 500) return { kind: "failed", error: `The receiver answered ${answer.status}.`, shown };
  const json = parsed(answer.body);
  return { kind: "answered", result: { status: answer.status, body: answer.body, duration_ms: answer.durationMs, ...(json !== undefined && { json }) }, shown };
}

/** Without its query, which may hold secrets. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** As it is stored, so that a step that follows at once sees what one after a restart would. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(storableJson(JSON.parse(text)));
  } catch {
    return undefined;
  }
}
