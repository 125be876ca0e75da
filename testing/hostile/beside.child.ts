import type { BesideNeeds, Felt } from "./beside.ts";

/** Where the tenant beside seems to come from. */
const ADDRESS = "198.51.100.5";

const { base, edge, tenant, slug } = JSON.parse(process.argv[2]!) as BesideNeeds;
const headers = { "x-api-key": tenant.api_key, authorization: `Bearer ${tenant.api_key}`, "x-forwarded-for": ADDRESS };
const push = JSON.stringify({ service_id: tenant.service_id, metrics: { error_rate: 0 } });
const ASKS: [string, RequestInit][] = [
  [`${base}/api/v1/services`, { headers }],
  [`${base}/pages/${slug}`, { headers: { "x-forwarded-for": ADDRESS } }],
  [`${edge}/api/metrics/ingest`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: push }],
];

interface Watched {
  took: number[];
  failed: string[];
  running: Set<Promise<void>>;
  timer: NodeJS.Timeout;
}

let watched: Watched | null = null;

async function ask({ took, failed }: Pick<Watched, "took" | "failed">, url: string, init: RequestInit): Promise<void> {
  const began = performance.now();
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }).catch((error: unknown) => String(error));
  took.push(performance.now() - began);
  if (typeof answer === "string") return void failed.push(`${url} ${answer}`);
  await answer.arrayBuffer();
  if (!answer.ok) failed.push(`${url} ${answer.status}`);
}

function watch(): Watched {
  const [took, failed, running]: [number[], string[], Set<Promise<void>>] = [[], [], new Set()];
  const askAll = () => {
    for (const [url, init] of ASKS) {
      const each = ask({ took, failed }, url, init).finally(() => running.delete(each));
      running.add(each);
    }
  };
  // At once, too: a short way shall not be over before it is felt.
  askAll();
  const timer = setInterval(askAll, 100);
  return { took, failed, running, timer };
}

async function stop({ took, failed, running, timer }: Watched): Promise<Felt> {
  clearInterval(timer);
  await Promise.all(running);
  const sorted = took.toSorted((a, b) => a - b);
  return { p99: sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0, requests: took.length, failed };
}

process.on("message", (message) => {
  if (message === "watch") watched = watch();
  else if (watched) void stop(watched).then((felt) => process.send!(felt));
});
process.send!("ready");
