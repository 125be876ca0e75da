import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openLogByDoor } from "../../platform/event-log/door.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import { newId } from "../../platform/ids.ts";
import { encodeDeadLetter, type DeadLetterHead } from "../../schemas/messages/dead-letter.ts";
import { buildService, COMMAND_LINE_PROGRAM, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../../testing/service-process.ts";

let folder: string;
let service: ServiceProcess;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-letters-"));
  environment = serviceEnvironment(folder);
  service = await startServiceProcess(environment);
});
afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.exited;
  await rm(folder, { recursive: true, force: true });
});

function pharos(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND_LINE_PROGRAM, ...args], { env: environment }, (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }));
  });
}

test("dead letters are listed, shown and put back while Pharos runs, and listed after it has stopped", async () => {
  expect(await pharos("dead-letter", "list")).toEqual({ code: 0, out: "There are no dead letters.\n", err: "" });
  const made = JSON.parse((await pharos("organization", "create", "--name", "Letters", "--plan", "team", "--json")).out) as { organization_id: string; service_id: string; api_key: string };
  const eventLog = (await openLogByDoor(join(folder, "log")))!;
  const head: DeadLetterHead = { type: "dead-letter", version: 1, group: "errors", log_id: eventLog.id, topic: "beacons", partition: 1, offset: "7", entry: 0, reason: "entry 0: it was too much", at: "2026-01-02T03:04:05.000Z" };
  const body = Buffer.from(JSON.stringify({ key: "bpk_", session_id: "s", events: [{ type: "error", error_type: "Error", message: "from the dead" }] }));
  const frame = encodeFrame({ edgeId: newId(), sequence: 9n }, [{ requestNumber: 1, receivedAt: Date.now(), detached: false, organizationId: made.organization_id, subjectId: made.service_id, body }]);
  await eventLog.append("dead-letter", 1, encodeDeadLetter(head, frame));
  await eventLog.append("dead-letter", 1, encodeDeadLetter({ ...head, offset: "8", at: "2026-01-02T03:04:06.000Z" }, Buffer.from([0, 255, 1])));

  const lines = (await pharos("dead-letter", "list")).out.split("\n");
  expect(lines[1]).toMatch(/^1\/1 +2026-01-02T03:04:06.000Z +beacons +1 +8 +errors +- +3 +- +entry 0/);
  expect(lines[2]).toMatch(new RegExp(`^1/0 +2026-01-02T03:04:05.000Z +beacons +1 +7 +errors +${made.organization_id} +${frame.byteLength} +- +entry 0: it was too much$`));
  expect((await pharos("dead-letter", "list", "--limit", "1", "--json")).out.trim().split("\n").map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(["1/1"]);
  expect((await pharos("dead-letter", "show", "1/0")).out).toContain(body.toString());
  expect((await pharos("dead-letter", "show", "1/1")).out).toContain(Buffer.from([0, 255, 1]).toString("base64"));

  expect(await pharos("dead-letter", "replay", "1/0")).toMatchObject({ code: 0, out: expect.stringContaining("was put back into beacons") });
  const occurrences = async (): Promise<number[]> => {
    const response = await fetch(`${service.base}/api/v1/errors?service_id=${made.service_id}`, { headers: { "X-API-Key": made.api_key } });
    return ((await response.json()) as { errors: { occurrences: number }[] }).errors.map((error) => error.occurrences);
  };
  await vi.waitFor(async () => expect(await occurrences()).toEqual([1]), { timeout: 30_000, interval: 200 });
  expect(await pharos("dead-letter", "replay", "1/0")).toMatchObject({ code: 1, err: expect.stringContaining("was replayed before. With --again") });
  expect(await pharos("dead-letter", "replay", "--all")).toMatchObject({ code: 1, out: "0 put back, 1 passed over because they were replayed before, 1 are no whole frame and stay.\n" });
  expect(await pharos("dead-letter", "replay", "1/0", "--again")).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await occurrences()).toEqual([2]), { timeout: 30_000, interval: 200 });

  expect(await pharos("dead-letter", "replay", "1/1")).toMatchObject({ code: 1, err: expect.stringContaining("no whole frame") });
  expect(await pharos("dead-letter", "show", "3/9")).toMatchObject({ code: 1, err: expect.stringContaining("There is no dead letter 3/9") });
  expect(await pharos("dead-letter", "replay")).toMatchObject({ code: 2, err: expect.stringContaining("or --all, is required") });
  expect(await pharos("dead-letter", "bury")).toMatchObject({ code: 2, err: expect.stringContaining('no command "dead-letter bury"') });

  service.child.kill("SIGTERM");
  await service.exited;
  expect((await pharos("dead-letter", "list")).out).toMatch(/\n1\/0 .* 2 +entry 0: it was too much\n2 of 2 dead letters\.\n$/);
});
