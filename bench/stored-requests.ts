import { DAY_MS, RELEASES } from "./stored-events.ts";
import type { StoredData } from "./stored-data.ts";

/** A list or a detail of the API that reads what is stored. */
export interface StoredRequest {
  name: string;
  path: string;
  kind: "list" | "detail" | "export";
}

/** Every list and detail that reads ClickHouse or large tables; `largest` is the signature with most events. */
export function storedRequests({ serviceIds, monitors, amount }: StoredData, largest: string): StoredRequest[] {
  const { days, now, signatures, events } = amount;
  const ago = (share: number) => new Date(now - share * days * DAY_MS).toISOString();
  const day = DAY_MS / (days * DAY_MS);
  const amid = `1.${RELEASES / 2}.0`;
  const all = `start_date=${ago(1.1)}&end_date=${ago(0)}`;
  const lists: Record<string, string> = {
    "plain": "",
    "limit 100": "limit=100",
    "service": `service_id=${serviceIds[1]}`,
    "status new": "status=new",
    "status ignored": "status=ignored",
    "environment production": "environment=production",
    "environment development": "environment=development",
    "latest release": `release=1.${RELEASES}.0`,
    "release amid": `release=${amid}`,
    "release, limit 100": `release=${amid}&limit=100`,
    "unknown release": "release=9.9.9",
    "start date": `start_date=${ago(0.07)}`,
    "end date": `end_date=${ago(0.07)}`,
    "both dates, a day": `start_date=${ago(0.35 + day)}&end_date=${ago(0.35)}`,
    "both dates, half": `start_date=${ago(0.75)}&end_date=${ago(0.25)}`,
    "both dates, all": all,
    "release and environment": `release=${amid}&environment=staging`,
    "environment and start date": `environment=production&start_date=${ago(0.23)}`,
    "environment and both dates": `environment=production&${all}`,
    "release, status, service": `release=${amid}&status=new&service_id=${serviceIds[1]}`,
    "release and both dates": `release=${amid}&${all}`,
    "offset amid": `limit=100&offset=${signatures / 2}`,
    "offset at the end": `limit=100&offset=${signatures - 100}`,
    "offset behind the end": "limit=100&offset=1000000",
  };
  const window = (back: number) => `from=${new Date(now - back * DAY_MS).toISOString()}&to=${new Date(now).toISOString()}`;
  const details: Record<string, string> = {
    "the largest signature": `/errors/${largest}`,
    "its occurrences": `/errors/${largest}/occurrences`,
    [`its occurrences, offset ${(events / 20).toLocaleString("en")}`]: `/errors/${largest}/occurrences?limit=100&offset=${events / 20}`,
    "samples of a service, a day": `/services/${serviceIds[1]}/metrics?${window(1)}`,
    "samples of a service, a week": `/services/${serviceIds[1]}/metrics?${window(7)}`,
    [`samples of a service, ${days} days`]: `/services/${serviceIds[1]}/metrics?${window(days)}`,
    "samples of one metric, a week": `/services/${serviceIds[1]}/metrics?name=response_time_ms&${window(7)}`,
    "vitals, a day": `/vitals?${window(1)}`,
    "vitals of a service, a week": `/vitals?service_id=${serviceIds[1]}&${window(7)}`,
    [`vitals, ${days} days`]: `/vitals?${window(days)}`,
    "results of a monitor, a day": `/uptime-monitors/${monitors.uptimeIds[0]}/results?${window(1)}`,
    "results of a monitor, 30 days": `/uptime-monitors/${monitors.uptimeIds[0]}/results?${window(30)}`,
    "an SSL monitor": `/ssl-monitors/${monitors.sslId}`,
    "a domain monitor": `/domain-monitors/${monitors.domainId}`,
    "a heartbeat monitor with its pings": `/heartbeat-monitors/${monitors.heartbeatIds[0]}`,
    "services": "/services",
    "uptime of a service": `/services/${serviceIds[1]}/uptime`,
    "releases": "/releases",
    "uptime monitors": "/uptime-monitors",
    "heartbeat monitors": "/heartbeat-monitors",
  };
  const exports = ["csv", "json"].flatMap((format) => ["", `&${all}`].map((more): StoredRequest => ({ name: `export of 10,000 as ${format}${more && ", both dates"}`, path: `/errors/export?format=${format}&limit=10000${more}`, kind: "export" })));
  return [
    ...Object.entries(lists).map(([name, query]): StoredRequest => ({ name: `list: ${name}`, path: `/errors?${query}`, kind: "list" })),
    ...Object.entries(details).map(([name, path]): StoredRequest => ({ name, path, kind: "detail" })),
    ...exports,
  ];
}

/** Milliseconds until an answer's first byte, and until it has ended. */
export interface Timed {
  first: number;
  whole: number;
  text: string;
}

/** Throws when it was refused. With `onlyFirst` the rest of the answer is not waited for. */
export async function timed(address: string, apiKey: string, { onlyFirst = false } = {}): Promise<Timed> {
  const begun = performance.now();
  const answer = await fetch(address, { headers: { "x-api-key": apiKey } });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`);
  const chunks: Uint8Array[] = [];
  let first = 0;
  for await (const chunk of answer.body!) {
    first ||= performance.now() - begun;
    chunks.push(chunk);
    if (onlyFirst) break;
  }
  return { first, whole: performance.now() - begun, text: Buffer.concat(chunks).toString() };
}
