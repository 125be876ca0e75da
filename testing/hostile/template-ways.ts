/* oxlint-disable unicorn/no-thenable -- a list of steps, never a function */
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, HostileTenant } from "./hostile-tenant.ts";
import { waysOf } from "./way.ts";

const LARGE = "x".repeat(60_000);
const fill = (count: number) => Array.from({ length: count }, () => "{{inputs.x}}");
const asks = (more: object) => ({ type: "http_request", method: "POST", url: "https://192.0.2.1.example.com/", timeout_ms: 100, ...more });

/** Makes a workflow, starts it once for each input, waits for the ends of its runs, and gives what they say. */
async function runs({ make, call }: HostileTenant, steps: object[], inputs: object[]): Promise<Answer[]> {
  const id = await make("/workflows", { name: "Hostile", steps });
  const started = await Promise.all(inputs.map((each) => call("POST", `/workflows/${id}/trigger`, { inputs: each })));
  const answers = await Promise.all(started.map(({ body }) => untilEnded((JSON.parse(body) as { run_id: string }).run_id, call)));
  await call("DELETE", `/workflows/${id}`);
  return answers;
}

async function untilEnded(runId: string, call: HostileTenant["call"]): Promise<Answer> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await pause(50)) {
    const answer = await call("GET", `/workflows/runs/${runId}`);
    if ((JSON.parse(answer.body) as { finished_at: string | null }).finished_at !== null) return answer;
  }
  throw new Error("a run did not end within half a minute");
}

const nested = (depth: number): object => (depth === 0 ? { type: "wait", seconds: 1 } : { type: "condition", left: 1, op: "eq", right: 1, then: [nested(depth - 1)] });

export const TEMPLATE_WAYS = waysOf("templates", "free", [
  ["seven thousand placeholders for a large input, three runs at once", /^200 .*"failed".*grew to more than 262,144 bytes/s, (tenant) => runs(tenant, [asks({ body: fill(7_000) })], [1, 2, 3].map(() => ({ x: LARGE })))],
  ["the same in one text", /^200 .*"failed".*grew to more than 262,144 bytes/s, (tenant) => runs(tenant, [asks({ body: fill(7_000).join("") })], [{ x: LARGE }])],
  ["the same in headers", /^200 .*"failed".*grew to more than 262,144 bytes/s, (tenant) => runs(tenant, [asks({ headers: Object.fromEntries(fill(40).map((each, n) => [`X-H${n}`, each])) })], [{ x: LARGE }])],
  ["the same in an address, percent-encoded", /^200 .*"failed".*grew to more than 262,144 bytes/s, (tenant) => runs(tenant, [asks({ url: `https://192.0.2.1.example.com/${fill(100).join("/")}` })], [{ x: '"'.repeat(30_000) }])],
  ["two thousand services of an incident", /^200 .*"failed".*grew to more than 100,000 bytes/s, (tenant) => runs(tenant, [{ type: "create_incident", title: "x", services: fill(2_000) }], [{ x: LARGE }])],
  ["a comparison of what grew", /^200 .*"failed".*grew to more than 100,000 bytes/s, (tenant) => runs(tenant, [{ type: "condition", left: fill(500).join(""), op: "contains", right: "y", then: [] }], [{ x: LARGE }])],
  ["three thousand inputs that are secrets", /^200 .*"succeeded".*\[masked\]/s, (tenant) => runs(tenant, [{ type: "create_incident", title: "{{inputs.token.0}}" }], [{ token: Array.from({ length: 3_000 }, (_, n) => `secret-${n}`) }])],
  ["inputs of more than 64 KiB", /^400 .*inputs is larger than 64 KiB/, async ({ make, call }) => {
    const id = await make("/workflows", { name: "Hostile", steps: [{ type: "wait", seconds: 1 }] });
    const answer = await call("POST", `/workflows/${id}/trigger`, { inputs: { x: "x".repeat(70_000) } });
    await call("DELETE", `/workflows/${id}`);
    return answer;
  }],
  ["fifty-one steps", /^400 /, ({ call }) => call("POST", "/workflows", { name: "x", steps: Array.from({ length: 51 }, () => ({ type: "wait", seconds: 1 })) })],
  ["steps of more than 256 KiB", /^400 .*256 KiB/, ({ call }) => call("POST", "/workflows", { name: "x", steps: Array.from({ length: 3 }, () => asks({ body: "x".repeat(95_000) })) })],
  ["conditions nested a thousand deep", /^400 /, ({ call }) => call("POST", "/workflows", { name: "x", steps: [nested(1_000)] })],
  ["a placeholder that reaches for the process", /^400 .*stands for nothing/, ({ call }) => call("POST", "/workflows", { name: "x", steps: [{ type: "create_incident", title: "{{constructor.constructor.x}}" }] })],
  ["a request into the private network", /^400 .*not public/, ({ call }) => call("POST", "/workflows", { name: "x", steps: [asks({ url: "https://169.254.169.254/latest/meta-data" })] })],
]);
