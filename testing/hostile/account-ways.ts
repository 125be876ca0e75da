import { waysOf, times } from "./way.ts";

export const ACCOUNT_WAYS = waysOf("keys, quotas and schedules", "free", [
  ["a schedule that never comes due", /^400 /, ({ call }) => call("POST", "/heartbeat-monitors", { name: "x", schedule_type: "cron", cron: "0 0 31 2 *" })],
  ["a schedule that comes due every 28 years", /^400 .*366 days/, ({ call }) => call("POST", "/heartbeat-monitors", { name: "x", schedule_type: "cron", cron: "0 0 31 2 4#5", timezone: "Asia/Gaza" })],
  ["a schedule of leap days for a workflow", /^400 .*366 days/, ({ call }) => call("POST", "/workflows", { name: "x", trigger: { type: "schedule", cron: "0 0 29 2 *" }, steps: [{ type: "wait", seconds: 1 }] })],
  ["a schedule of a thousand fields", /^400 /, ({ call }) => call("POST", "/heartbeat-monitors", { name: "x", schedule_type: "cron", cron: Array.from({ length: 1_000 }, () => "*").join(" ") })],
  ["a time zone that is a path", /^400 .*no time zone/, ({ call }) => call("POST", "/heartbeat-monitors", { name: "x", schedule_type: "cron", cron: "0 3 * * *", timezone: "../../etc/passwd" })],
  ["a hundred pings on a yearly schedule", /^(200|429) /, async ({ call, send, api_key: key }) => {
    await call("POST", "/heartbeat-monitors", { name: "Yearly", slug: "hostile-yearly", schedule_type: "cron", cron: "0 0 1 1 *", timezone: "Asia/Gaza" });
    return times(100, () => send("/api/heartbeat/hostile-yearly", "{}", { authorization: `Bearer ${key}` }));
  }],
  ["keys beyond the plan's number", /^(201|403 .*PLAN_LIMIT)/, async ({ call }) => {
    const answers = await times(20, (n) => call("POST", "/api-keys", { name: `k${n}`, scopes: ["services:read"] }));
    if (answers.filter(({ status }) => status === 201).length > 10) throw new Error("more than ten keys were made");
    return answers;
  }],
  ["monitors beyond the plan's number", /^(201|403 .*PLAN_LIMIT)/, ({ call }) => times(30, (n) => call("POST", "/heartbeat-monitors", { name: `m${n}`, interval_seconds: 3_600 }))],
  ["workflows beyond the plan's number", /^(201|403 .*PLAN_LIMIT)/, async ({ call }) => {
    const answers = await times(10, (n) => call("POST", "/workflows", { name: `w${n}`, steps: [{ type: "wait", seconds: 1 }] }));
    await Promise.all(answers.filter(({ status }) => status === 201).map(({ body }) => call("DELETE", `/workflows/${(JSON.parse(body) as { id: string }).id}`)));
    return answers;
  }],
  ["a monitor into the private network", /^400 /, ({ call }) => call("POST", "/uptime-monitors", { name: "x", url: "http://127.0.0.1:8080/metrics" })],
  ["a webhook to this machine by a name", /^(201|400) /, ({ call }) => call("POST", "/webhooks", { name: "x", url: "https://localhost/", events: ["incident.created"] })],
  ["a webhook with credentials in its address", /^400 /, ({ call }) => call("POST", "/webhooks", { name: "x", url: "https://user:pass@example.com/", events: ["incident.created"] })],
  ["text messages on a plan without any", /^403 .*PLAN_RESTRICTED/, ({ call }) => call("POST", "/notifications/channels", { type: "sms", name: "x", config: { phone_number: "+4915112345678" } })],
  ["source maps on a plan without any", /^(403|400|415) /, ({ call }) => call("POST", "/sourcemaps", { release: "1" })],
  ["an idempotency key of ten thousand characters", /^400 /, ({ call }) => call("POST", "/services", { name: "x" }, { "idempotency-key": "k".repeat(10_000) })],
  ["a thousand keys that nobody knows", /^(401|429) /, ({ ask }) => times(1_000, (n) => ask("GET", "/api/v1/services", undefined, { "x-api-key": `psk_${String(n).padStart(40, "0")}` }))],
  ["lists with absurd limits", /^200 /, ({ call }) => call("GET", "/services?limit=99999999999999999999")],
  ["lists with absurd offsets", /^200 /, ({ call }) => call("GET", "/webhooks?offset=99999999999999999999")],
  ["a limit that is no number", /^400 /, ({ call }) => call("GET", "/services?limit=1;drop%20table%20services")],
  ["a search of a thousand wildcards", /^(200|400) /, ({ call }) => call("GET", `/errors?q=${"%25_".repeat(300)}`)],
  ["an id of ten thousand characters", /^(404|414|429) /, ({ call }) => call("GET", `/services/${"a".repeat(10_000)}`)],
  ["a path out of the assets", /^40[04] /, ({ ask }) => ask("GET", "/assets/..%2f..%2f..%2fetc%2fpasswd")],
]);
