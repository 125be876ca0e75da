import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClaimedDelivery } from "../../domain/deliveries/claim.ts";
import { newSigningSecret, signatureHeaders } from "../../domain/webhooks/sign.ts";
import { newId } from "../../platform/ids.ts";
import { makeOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { attemptDelivery } from "./attempt.ts";

const run = promisify(execFile);
const DAY = 86_400_000;
const config = { WEBHOOK_TIMEOUT_MS: 30_000, WEBHOOK_ALLOW_HTTP: true };
const guide = readFileSync(join(PROJECT_ROOT, "docs/webhooks.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "pharos-receivers-"));
/** Kept between runs: without it Go compiles its library each time. */
const GO = { GOCACHE: join(tmpdir(), "pharos-go-cache"), GOPATH: join(folder, "go"), GOPROXY: "off", GO111MODULE: "off", GOTOOLCHAIN: "local" };

/** The code of the guide that is named in its first line. */
function documented(name: string): string {
  const blocks = [...guide.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code]) => code!).filter((code) => code.split("\n")[0]!.includes(name));
  expect(blocks, name).toHaveLength(1);
  writeFileSync(join(folder, name), blocks[0]!);
  return join(folder, name);
}

const isInstalled = (program: string, argument: string) => spawnSync(program, [argument], { stdio: "ignore" }).status === 0;

interface Language {
  name: string;
  file: string;
  installed: boolean;
  start(file: string, port: number): [program: string, ...args: string[]];
}

const LANGUAGES: Language[] = [
  { name: "Node", file: "receiver.mjs", installed: true, start: (file) => [process.execPath, file] },
  { name: "Python", file: "receiver.py", installed: isInstalled("python3", "--version"), start: (file) => ["python3", file] },
  { name: "Go", file: "receiver.go", installed: isInstalled("go", "version"), start: (file) => [buildGo(file)] },
  { name: "PHP", file: "receiver.php", installed: isInstalled("php", "--version"), start: (file, port) => ["php", "-S", `127.0.0.1:${port}`, file] },
];

/** `go run` would leave the program running when it is ended itself. */
function buildGo(file: string): string {
  const program = join(folder, "receiver-go");
  const { status, stderr } = spawnSync("go", ["build", "-o", program, file], { env: { ...process.env, ...GO }, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return program;
}

let outbound: Outbound;
beforeAll(() => {
  outbound = makeOutbound({ config: { OUTBOUND_ALLOW: ["127.0.0.0/8"], OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: null } });
});
afterAll(async () => {
  await outbound.close();
  rmSync(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a documented receiver that knows one secret, and gives its URL when it answers. */
async function startReceiver({ file, start }: Language, secret: string): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const [program, ...args] = start(documented(file), port);
  const child: ChildProcess = spawn(program, args, { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }, stdio: "ignore" });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}/hook`;
  await expect.poll(() => fetch(url, { method: "POST" }).then(() => true, () => false), { timeout: 20_000 }).toBe(true);
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

const body = JSON.stringify({ id: newId(), event: "monitor.down", timestamp: "2026-05-04T12:00:00.000Z", data: { name: "Zahlung ✗ schlägt fehl", url: null } });

interface Signing { secret: string; previous?: string; clockMs?: number }

/** Really delivers, as for an event, and gives the answer's status. */
async function deliver(url: string, { secret, previous, clockMs = Date.now() }: Signing): Promise<number | null> {
  const claimed: ClaimedDelivery = { id: newId(), leaseToken: newId(), webhookId: newId(), organizationId: newId(), eventId: newId(), attempt: 1, trigger: "event", url, signingSecret: secret, previousSecret: previous ?? null, previousSecretExpiresAt: new Date(clockMs + DAY), headers: {}, body };
  const attempt = await attemptDelivery(claimed, { outbound, clock: { now: () => clockMs, monotonic: () => performance.now() }, config, signal: new AbortController().signal });
  return attempt!.statusCode;
}

/** What nobody but a forger sends. */
async function forge(url: string, headers: Record<string, string>, forged: string): Promise<number> {
  return (await fetch(url, { method: "POST", headers, body: forged })).status;
}

describe.each(LANGUAGES)("the receiver for $name", (language) => {
  it.skipIf(!language.installed)(`takes what is signed with its secret, also as the one before, and nothing else (${language.installed ? "installed" : "not installed on this machine"})`, { timeout: 240_000 }, async () => {
    const [mine, other, third] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const { url, stop } = await startReceiver(language, mine);
    try {
      const answers = {
        good: await deliver(url, { secret: mine }),
        rotated: await deliver(url, { secret: other, previous: mine }),
        "new secret known": await deliver(url, { secret: mine, previous: other }),
        "wrong secret": await deliver(url, { secret: other }),
        "neither secret": await deliver(url, { secret: other, previous: third }),
        old: await deliver(url, { secret: mine, clockMs: Date.now() - 310_000 }),
        "of the future": await deliver(url, { secret: mine, clockMs: Date.now() + 310_000 }),
      };
      expect(answers).toEqual({ good: 204, rotated: 204, "new secret known": 204, "wrong secret": 401, "neither secret": 401, old: 401, "of the future": 401 });
      const headers = signatureHeaders({ secret: mine, id: "msg_1", at: new Date(), body });
      const { "webhook-signature": _, ...unsigned } = headers;
      const forged = {
        "as it was": await forge(url, headers, body),
        "another body": await forge(url, headers, body.replace("down", "up")),
        "another id": await forge(url, { ...headers, "webhook-id": "msg_2" }, body),
        "no signature": await forge(url, unsigned, body),
        "an empty one": await forge(url, { ...unsigned, "webhook-signature": "v1," }, body),
        "of another version": await forge(url, { ...unsigned, "webhook-signature": headers["webhook-signature"]!.replace("v1,", "v2,") }, body),
        "no timestamp": await forge(url, { "webhook-id": "msg_1", "webhook-signature": headers["webhook-signature"]! }, body),
        "nothing": await forge(url, {}, body),
      };
      expect(forged).toEqual({ "as it was": 204, "another body": 401, "another id": 401, "no signature": 401, "an empty one": 401, "of another version": 401, "no timestamp": 401, nothing: 401 });
    } finally {
      await stop();
    }
  });
});

const shell = isInstalled("openssl", "version") && isInstalled("curl", "--version");

describe("with openssl and curl", () => {
  it.skipIf(!shell)(`a delivery by hand is taken by a receiver (${shell ? "installed" : "not installed on this machine"})`, { timeout: 30_000 }, async () => {
    const secret = newSigningSecret();
    const { url, stop } = await startReceiver(LANGUAGES[0]!, secret);
    const send = async (WEBHOOK_SECRET: string) => (await run("sh", [documented("send.sh")], { env: { ...process.env, WEBHOOK_SECRET, RECEIVER: url } })).stdout;
    try {
      expect([await send(secret), await send(newSigningSecret())]).toEqual(["204\n", "401\n"]);
    } finally {
      await stop();
    }
  });

  it.skipIf(!shell)("one that came is checked by either secret", async () => {
    const [mine, other] = [newSigningSecret(), newSigningSecret()];
    const script = documented("verify.sh");
    async function check(secret: string, signing: { secret: string; previousSecret?: string }, received = body): Promise<boolean> {
      writeFileSync(join(folder, "body.json"), received);
      const headers = signatureHeaders({ ...signing, id: "msg_1", at: new Date(), body });
      const environment = { ...process.env, WEBHOOK_SECRET: secret, SIGNATURE: headers["x-service-signature"], PREVIOUS: headers["x-service-signature-previous"] ?? "" };
      return run("sh", [script], { cwd: folder, env: environment }).then(({ stdout }) => stdout === "genuine\n", () => false);
    }
    const checks = [
      await check(mine, { secret: mine }),
      await check(mine, { secret: other, previousSecret: mine }),
      await check(mine, { secret: other }),
      await check(mine, { secret: mine }, body.replace("down", "up")),
    ];
    expect(checks).toEqual([true, true, false, false]);
  });
});
