import { hostOf, judgeUrl } from "../../../platform/outbound/judge-url.ts";
import { makeStopwatch } from "../../../platform/outbound/stopwatch.ts";
import { timedRequest, type TimedAnswer } from "../../../platform/outbound/timed-request.ts";
import { askServer, LookupFailed, type LookupNeeds } from "./lookup-needs.ts";
import { readRdapDomain } from "./read-rdap.ts";
import { foundRegistration, notRegistered, type Lookup } from "./registration.ts";

const MOST_REDIRECTS = 3;
const MOST_BYTES = 1_048_576;
const LONGEST_REST_MS = 86_400_000;
/** Of a server that asks to be left alone without saying how long. */
const USUAL_REST_MS = 3_600_000;

/** Looks a domain up at an RDAP server. LookupFailed. */
export async function askRdap(needs: LookupNeeds, base: string, domain: string, signal: AbortSignal): Promise<Lookup> {
  const address = new URL(`domain/${domain}`, base.endsWith("/") ? base : `${base}/`);
  const { status, text, host } = await getOverHttp(needs, address, signal, "application/rdap+json, application/json;q=0.5");
  if (status === 404) return notRegistered(domain);
  if (status !== 200) throw new LookupFailed(`${host} answered with status ${status}.`);
  const registration = readRdapDomain(text);
  if (registration === null) throw new LookupFailed(`${host} answered with something that is not RDAP.`);
  return foundRegistration(domain, registration, host);
}

/** GETs a text of at most 1 MiB, following three redirects, each of which is judged like the first address. LookupFailed, also for 429. */
export async function getOverHttp(needs: LookupNeeds, first: URL, signal: AbortSignal, accept: string): Promise<{ status: number; text: string; host: string }> {
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const host = hostOf(url);
    const judgement = judgeUrl(url.href, { allowHttp: true, ...needs.outbound });
    if (!judgement.ok) throw new LookupFailed(`${judgement.sentence} ${judgement.fix}`);
    const { status, headers, body } = await askServer(needs, { id: url.host, host }, signal, (limit) => get(needs, url, limit, accept));
    const next = status >= 300 && status < 400 && typeof headers.location === "string" ? URL.parse(headers.location, url.href) : null;
    if (next === null) {
      if (body.length > MOST_BYTES) throw new LookupFailed(`${host} answered with more than 1 MiB.`);
      return { status, text: body.toString("utf8"), host };
    }
    url = next;
  }
  throw new LookupFailed(`${hostOf(first)} redirects more than ${MOST_REDIRECTS} times.`);
}

async function get({ outbound }: LookupNeeds, url: URL, signal: AbortSignal, accept: string): Promise<TimedAnswer> {
  const wanted = (status: number) => status === 200;
  const answer = await timedRequest({ url, method: "GET", headers: { accept, "user-agent": "Pharos" }, body: null, bodyLimit: MOST_BYTES + 1, wanted, verify: true, signal, watch: makeStopwatch() }, outbound);
  if (answer.status === 429) throw new LookupFailed(`${hostOf(url)} answers too many questions just now.`, restOf(answer.headers["retry-after"]));
  return answer;
}

/** `Retry-After`: seconds or a date. */
function restOf(header: string | string[] | undefined): number {
  const text = String(header ?? "");
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? USUAL_REST_MS : Math.min(Math.max(ms, 0), LONGEST_REST_MS);
}
