import { constants } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { checkServerIdentity, connect, createSecureContext, rootCertificates, type TLSSocket } from "node:tls";
import type { Config } from "../../../platform/config.ts";
import { describeError } from "../../../platform/outbound/describe-error.ts";
import { judgeAddress } from "../../../platform/outbound/judge-address.ts";
import { AddressRefused, refuseAddress, resolvePublic, systemResolve, type Resolve, type ResolvedAddress } from "../../../platform/outbound/resolve-public.ts";
import { outboundRules, type OutboundConfig } from "../../../platform/outbound/rules.ts";
import { untilAborted } from "../../../platform/outbound/until-aborted.ts";
import { readCertificate, type FetchedCertificate } from "./read-certificate.ts";

export interface Phases {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
}

export type ProbeResult = { responseTimeMs: number; phases: Phases } & (
  | { kind: "fetched"; certificate: FetchedCertificate }
  /** No connection could be made: the name has no address, or none that may be connected to, or nobody listens there. `fix` where more can be said than `error` does. */
  | { kind: "unreachable"; error: string; fix?: string }
  /** There was a connection, but no certificate came. */
  | { kind: "no_certificate"; error: string }
);

interface Target {
  /** As `readHost` gives it. */
  host: string;
  port: number;
  /** Gives the probe up. */
  signal?: AbortSignal;
}

/** Fetches the certificate of a server. Never rejects; `error` is a sentence for the person who named the host. */
export type CertificateProbe = (target: Target) => Promise<ProbeResult>;

interface ProbeNeeds {
  config: OutboundConfig & Pick<Config, "OUTBOUND_CA_FILE">;
  timeoutMs?: number;
  resolve?: Resolve;
}

/** For everything together: look-up, connection and TLS. */
export const PROBE_TIMEOUT_MS = 10_000;

/** How long one address of several may take before the next is tried, in ms. */
const ATTEMPT_MS = 3_000;

/** What an error is called when the other side ends a connection. */
const CUT = new Set(["ECONNRESET", "EPIPE"]);

/**
 * Fetches by a TLS handshake that takes whatever certificate comes, to judge it afterwards: with the name sent (SNI), with old versions and weak
 * ciphers allowed, since a server that has nothing better has a certificate too. Nothing is ever sent over the connection. Throws when OUTBOUND_CA_FILE cannot be read.
 */
export function makeCertificateProbe({ config, timeoutMs = PROBE_TIMEOUT_MS, resolve: resolveName = systemResolve }: ProbeNeeds): CertificateProbe {
  const rules = outboundRules(config);
  const caFile = config.OUTBOUND_CA_FILE;
  const secureContext = createSecureContext({
    ...(caFile !== null && { ca: [...rootCertificates, readFileSync(caFile, "utf8")] }),
    ciphers: "DEFAULT@SECLEVEL=0",
    minVersion: "TLSv1",
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
  });

  function handshake({ host, port }: Target, addresses: ResolvedAddress[], { signal, onConnected }: { signal: AbortSignal; onConnected(): void }): Promise<FetchedCertificate> {
    const judgedOnly: LookupFunction = (_name, { all }, answer) => {
      if (all) answer(null, addresses);
      else answer(null, addresses[0]!.address, addresses[0]!.family);
    };
    return new Promise((resolve, reject) => {
      const options = {
        host,
        port,
        lookup: judgedOnly,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
        secureContext,
        rejectUnauthorized: false,
        // So that `authorizationError` speaks of the chain alone.
        checkServerIdentity: () => undefined,
        ...(isIP(host) === 0 && { servername: host }),
      };
      const socket = connect(options);
      const abort = () => socket.destroy(signal.reason as Error);
      signal.addEventListener("abort", abort, { once: true });
      socket.once("connect", () => {
        const { remoteAddress } = socket;
        // Gone again by now: it has no address any more.
        const judgement = remoteAddress === undefined ? { ok: true as const } : judgeAddress(remoteAddress, rules.allow);
        if (judgement.ok) onConnected();
        else socket.destroy(refuseAddress(host, judgement));
      });
      socket.once("secureConnect", () => {
        const certificate = certificateOf(socket, host);
        if (certificate) resolve(certificate);
        socket.destroy();
      });
      // Also after it is settled: what a connection does that nobody needs any more must not end the process.
      socket.on("error", reject);
      socket.once("close", () => {
        signal.removeEventListener("abort", abort);
        reject(new Error(`${host} closed the connection without showing a certificate.`));
      });
      if (signal.aborted) abort();
    });
  }

  return async (target) => {
    const started = performance.now();
    const phases: Phases = { dnsMs: null, connectMs: null, tlsMs: null };
    let phaseStarted = started;
    const endPhase = (phase: keyof Phases) => {
      const now = performance.now();
      phases[phase] = Math.round(now - phaseStarted);
      phaseStarted = now;
    };
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(target.signal ? [target.signal] : [])]);
    const finish = () => ({ responseTimeMs: Math.round(performance.now() - started), phases });
    try {
      const addresses = await untilAborted(resolvePublic(target.host, target.port, { resolve: resolveName, ...rules }), signal);
      endPhase("dnsMs");
      const certificate = await handshake(target, addresses, { signal, onConnected: () => endPhase("connectMs") });
      endPhase("tlsMs");
      return { kind: "fetched", certificate, ...finish() };
    } catch (error) {
      if (error instanceof AddressRefused) return { kind: "unreachable", error: error.sentence, fix: error.fix, ...finish() };
      // A connection that is reset at once may never be said to have stood.
      const connected = phases.connectMs !== null || CUT.has(codeOf(error));
      return { kind: connected ? "no_certificate" : "unreachable", error: sentenceOf(error, target, { connected, timedOut: signal.aborted, timeoutMs }), ...finish() };
    }
  };
}

function certificateOf(socket: TLSSocket, host: string): FetchedCertificate | null {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return null;
  // Not getPeerCertificate: once the certificate was asked for, Node 20 has nothing left for it.
  const peer = certificate.toLegacyObject();
  const error = socket.authorizationError as unknown;
  return readCertificate(certificate, {
    peer,
    nameMatches: checkServerIdentity(host, peer) === undefined,
    chainError: socket.authorized ? null : typeof error === "string" ? error : codeOf(error),
    issuerSent: certificate.issuerCertificate !== undefined,
  });
}

function sentenceOf(error: unknown, { host, port }: Target, { connected, timedOut, timeoutMs }: { connected: boolean; timedOut: boolean; timeoutMs: number }): string {
  if (timedOut) return connected ? `${host} took the connection on port ${port}, but showed no certificate within ${timeoutMs / 1_000} s.` : `No connection to port ${port} of ${host} could be made within ${timeoutMs / 1_000} s.`;
  if (!connected) return describeError(error, host);
  if (CUT.has(codeOf(error)) || codeOf(error) === "") return `${host} closed the connection on port ${port} without showing a certificate.`;
  return `Port ${port} of ${host} does not speak TLS, or not in a way that could be agreed on.`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
