import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFaultyTls, type FaultyTls } from "../../../testing/faulty-tls.ts";
import { judgeCertificate } from "./decide.ts";
import { makeCertificateProbe, type CertificateProbe } from "./probe.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

let farm: FaultyTls;
let probe: CertificateProbe;

beforeAll(async () => {
  farm = await startFaultyTls();
  probe = makeCertificateProbe({ config: { OUTBOUND_ALLOW: LOOPBACK, OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: farm.caFile }, timeoutMs: 2_000 });
});
afterAll(() => farm.stop());

async function judge(server: keyof FaultyTls["ports"], host = "127.0.0.1") {
  const result = await probe({ host, port: farm.ports[server] });
  if (result.kind !== "fetched") throw new Error(`${server}: ${result.error}`);
  return judgeCertificate(result.certificate, new Date());
}

describe("a server that shows a certificate", () => {
  it.each([
    ["valid", 40, null],
    ["with_intermediate", 40, null],
    ["two_days", 2, null],
    ["ten_days", 10, null],
    ["expired", -1, /^The certificate expired on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/],
    ["not_yet_valid", 40, /^The certificate is not valid before \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/],
    ["self_signed", 40, "The certificate is self-signed."],
    ["wrong_host", 40, "The certificate is for other names: shop.example.com, www.example.com."],
    ["unknown_issuer", 40, "The certificate was issued by an authority that is not trusted, or the server does not send its intermediate certificate: CN=Stranger Root, O=Stranger."],
    ["unknown_issuer_sent", 40, "The certificate was issued by an authority that is not trusted: CN=Stranger Root, O=Stranger."],
    ["missing_intermediate", 40, "The chain is incomplete: the server does not send the intermediate certificate CN=Pharos Test Intermediate, O=Pharos."],
    ["expired_intermediate", 40, "A certificate in its chain has expired: renew the chain that the server sends."],
    ["weak_key", 40, "The certificate's key is weak: 1024 bits, where 2048 are the least."],
    ["weak_signature", 40, "The certificate's signature is weak: it uses SHA-1."],
    ["by_name", 40, "The certificate is for other names: shop.example.com, www.example.com."],
  ] as const)("%s", async (server, days, reason) => {
    const certificate = await judge(server);
    expect(certificate).toMatchObject({ days_until_expiry: days, is_valid: reason === null });
    if (reason === null) expect(certificate.invalid_reason).toBeNull();
    else expect(certificate.invalid_reason).toEqual(typeof reason === "string" ? reason : expect.stringMatching(reason));
  });

  it("is told the name that is asked for, and judged by it", async () => {
    expect(await judge("by_name", "localhost")).toMatchObject({ is_valid: true, san: ["localhost", "127.0.0.1"] });
  });

  it("tells all that is known of the certificate", async () => {
    expect(await judge("valid")).toMatchObject({
      issuer: "CN=Pharos Test Root, O=Pharos",
      subject: "CN=localhost, O=Faulty Shop",
      serial_number: expect.stringMatching(/^[0-9A-F]{8,}$/) as string,
      fingerprint: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/) as string,
      san: ["localhost", "127.0.0.1"],
    });
  });

  it("is not trusted by an authority that the operator did not name", async () => {
    const result = await makeCertificateProbe({ config: { OUTBOUND_ALLOW: LOOPBACK, OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: null } })({ host: "127.0.0.1", port: farm.ports.valid });
    expect(result).toMatchObject({ kind: "fetched", certificate: { faults: [expect.stringContaining("not trusted")] } });
  });
});

describe("a server that shows none", () => {
  it.each([
    ["plain_text", "no_certificate", /does not speak TLS/],
    ["hanging", "no_certificate", /took the connection on port \d+, but showed no certificate within 2 s/],
    ["closing", "no_certificate", /closed the connection on port \d+ without showing a certificate/],
    ["resetting", "no_certificate", /closed the connection on port \d+ without showing a certificate/],
    ["refusing", "unreachable", /the connection was refused/],
  ] as const)("%s", async (server, kind, error) => {
    const result = await probe({ host: "127.0.0.1", port: farm.ports[server] });
    expect(result).toMatchObject({ kind, error: expect.stringMatching(error) as string });
    expect(result.responseTimeMs).toBeLessThan(10_000);
  });

  it("has no address, or none that is allowed", async () => {
    expect(await probe({ host: "no-such-host.invalid", port: 443 })).toMatchObject({ kind: "unreachable" });
    const strict = makeCertificateProbe({ config: { OUTBOUND_ALLOW: [], OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: null } });
    expect(await strict({ host: "localhost", port: farm.ports.valid })).toMatchObject({ kind: "unreachable", error: expect.stringContaining("has no public address") as string, fix: expect.stringContaining("OUTBOUND_ALLOW") as string });
    expect(await strict({ host: "127.0.0.1", port: farm.ports.valid })).toMatchObject({ kind: "unreachable", error: expect.stringContaining("is not public") as string });
  });

  it("is given up when it is asked to", async () => {
    const stopping = new AbortController();
    const result = probe({ host: "127.0.0.1", port: farm.ports.hanging, signal: stopping.signal });
    stopping.abort();
    expect(await result).toMatchObject({ kind: expect.stringMatching(/unreachable|no_certificate/) as string });
  });
});
