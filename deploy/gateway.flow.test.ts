import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PROJECT_ROOT } from "../platform/root.ts";
import { makeCertificate } from "../testing/certificate.ts";
import { findNginx, runNginx } from "./cluster/gateway.ts";
import type { Guarded } from "./cluster/guarded.ts";

const SHIPPED = join(PROJECT_ROOT, "deploy", "nginx");
const MIB = 1_048_576;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What stands behind the gateway: says what came. */
function listen(name: string): Promise<Server> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.byteLength));
    request.on("end", () => response.end(JSON.stringify({ name, bytes, headers: request.headers })));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function freePort(): Promise<number> {
  const server = createSocket();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.runIf(findNginx() !== null)("the shipped gateway with a certificate", () => {
  const certificate = makeCertificate();
  let folder: string;
  let backends: Server[];
  let gateway: Guarded;
  let [tls, plain, behind] = [0, 0, 0];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pharos-gateway-"));
    backends = await Promise.all([listen("edge"), listen("control plane")]);
    [tls, plain, behind] = [await freePort(), await freePort(), await freePort()];
    await mkdir(folder, { recursive: true });
    for (const name of ["nginx.conf", "gateway.conf", "redirect.conf"]) await copyFile(join(SHIPPED, name), join(folder, name));
    const files = {
      "key.pem": certificate.key,
      "cert.pem": certificate.cert,
      // The last port is as behind a load balancer that ends TLS and says who came.
      "listen.conf": `listen 127.0.0.1:${tls} ssl;\nlisten 127.0.0.1:${behind};\nssl_certificate cert.pem;\nssl_certificate_key key.pem;\nif ($server_port = ${behind}) { set $pharos_scheme https; }\n`,
      "redirect-listen.inc": `listen 127.0.0.1:${plain};\n`,
      "edges.conf": `server 127.0.0.1:${portOf(backends[0]!)};\n`,
      "control-planes.conf": `server 127.0.0.1:${portOf(backends[1]!)};\n`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
    gateway = await runNginx(folder, join(folder, "gateway.log"));
    await vi.waitFor(() => ask(tls, "GET", "/"), { timeout: 30_000, interval: 50 });
  });
  afterAll(async () => {
    await gateway?.end("SIGQUIT", 5_000);
    for (const server of backends) server.close();
    certificate.remove();
    await rm(folder, { recursive: true, force: true });
  });

  function ask(port: number, method: string, path: string, { headers = {}, body = Buffer.alloc(0) }: { headers?: Record<string, string>; body?: Buffer } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port, method, path, headers: { ...headers, "content-length": body.byteLength }, agent: false as const };
      const request = port === tls ? requestTls({ ...options, ca: certificate.cert }) : requestPlain(options);
      request.on("error", reject);
      request.on("response", (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts).toString() }));
      });
      request.end(body);
    });
  }

  const seen = async (port: number, path: string, headers: Record<string, string> = {}) => (JSON.parse((await ask(port, "GET", path, { headers })).body) as { headers: IncomingHttpHeaders }).headers;

  test("tells browsers to stay with https, also in what it answers itself", async () => {
    for (const path of ["/", "/api/v1/services", "/api/heartbeat/job", "/metrics"]) expect((await ask(tls, "GET", path)).headers["strict-transport-security"], path).toBe("max-age=31536000");
    const tooLarge = await ask(tls, "POST", "/api/beacon", { body: Buffer.alloc(257 * 1024) });
    expect([tooLarge.status, tooLarge.headers["strict-transport-security"]]).toEqual([413, "max-age=31536000"]);
  });

  test("sends http to https, with the address that was asked for", async () => {
    for (const method of ["GET", "POST"]) {
      const { status, headers } = await ask(plain, method, "/api/v1/services?limit=1", { headers: { host: "status.example.com" } });
      expect([status, headers.location]).toEqual([308, "https://status.example.com/api/v1/services?limit=1"]);
    }
  });

  test.each(["/", "/api/v1/services", "/api/v1/sourcemaps", "/api/beacon", "/api/heartbeat/job", "/api/metrics/ingest"])("passes nothing on at %s that a client says of where it came from", async (path) => {
    const forged = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http", "x-forwarded-host": "evil.example", forwarded: "for=203.0.113.9" };
    const headers = await seen(tls, path, forged);
    expect([headers["x-forwarded-for"], headers["x-forwarded-proto"], headers["x-forwarded-host"], headers.forwarded]).toEqual(["127.0.0.1", "https", undefined, undefined]);
  });

  test("says https where listen.conf says that TLS ended before", async () => {
    expect((await seen(behind, "/"))["x-forwarded-proto"]).toBe("https");
    expect((await ask(behind, "GET", "/")).headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test("takes bodies up to what Pharos takes at each address, and no larger ones", async () => {
    const limits: [string, number][] = [["/api/v1/sourcemaps", 65 * MIB], ["/api/v1/services", MIB], ["/api/beacon", 256 * 1024], ["/api/metrics/ingest", 64 * 1024], ["/api/heartbeat/job", 10 * 1024]];
    for (const [path, most] of limits) {
      const fits = await ask(tls, "POST", path, { body: Buffer.alloc(most) });
      expect([fits.status, (JSON.parse(fits.body) as { bytes: number }).bytes], path).toEqual([200, most]);
      expect((await ask(tls, "POST", path, { body: Buffer.alloc(most + 1) }).catch(() => ({ status: 413 }))).status, path).toBe(413);
    }
  });

  test("speaks no TLS before 1.2", async () => {
    const old = new Promise((resolve, reject) => {
      const request = requestTls({ host: "127.0.0.1", port: tls, path: "/", ca: certificate.cert, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0", agent: false }, resolve);
      request.on("error", reject);
      request.end();
    });
    await expect(old).rejects.toThrow(/protocol version|EPROTO|ECONNRESET/);
  });
});
