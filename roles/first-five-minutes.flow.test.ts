import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PROJECT_ROOT } from "../platform/root.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";

const run = promisify(execFile);

let house: TestHouse;
beforeAll(async () => {
  house = await startTestHouse();
});
afterAll(() => house.stop());

/** The guide's commands, in order, as they are printed, but for the address. */
async function commands(): Promise<string[]> {
  const guide = await readFile(join(PROJECT_ROOT, "docs/first-five-minutes.md"), "utf8");
  return [...guide.matchAll(/```\n(curl [\s\S]*?)\n```/g)].map(([, command]) => command!.replaceAll("http://localhost:8080", house.base));
}

test("every curl line of the first five minutes does what the guide says", async () => {
  const environment = { ...process.env, PHAROS_KEY: house.organization.apiKey, SERVICE_ID: "" };
  const answers: { command: string; answer: Record<string, unknown> }[] = [];
  for (const command of await commands()) {
    const { stdout } = await run("bash", ["-c", command], { env: environment });
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    answers.push({ command, answer });
    if (Array.isArray(answer.services)) environment.SERVICE_ID = (answer.services as { id: string }[])[0]!.id;
  }
  expect(answers).toHaveLength(9);
  for (const { command, answer } of answers) expect({ command, error: answer.error }).toEqual({ command, error: undefined });

  const of = (part: string) => answers.find(({ command }) => command.includes(part))!.answer;
  expect(of("/api/metrics/ingest")).toMatchObject({ status_change: { current: "partial_outage" }, incident_created: { id: expect.any(String) } });
  expect(of("/api/heartbeat/nightly-backup")).toMatchObject({ success: true, status: "up" });
  expect(of("/sourcemaps/lookup")).toMatchObject({ original: { source: "src/cart.ts", line: 1, column: 1 } });
  expect(of("/api/v1/webhooks")).toMatchObject({ signing_secret: expect.stringMatching(/^whsec_/) });

  const page = await (await fetch(`${house.base}/pages/${house.organization.pageSlug}`)).text();
  expect(page).toContain("error_rate");
  await vi.waitFor(async () => expect((await house.call<{ heartbeat_monitors: { status: string }[] }>("GET", "/heartbeat-monitors")).body.heartbeat_monitors[0]?.status).toBe("up"), { timeout: 60_000 });
});
