import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure, type SecureContext } from "node:tls";
import type { buildConnector } from "undici";
import { judgeAddress, type AddressRange } from "./judge-address.ts";
import { refuseAddress, type ResolvedAddress } from "./resolve-public.ts";

interface ConnectNeeds {
  /** As `hostOf` gives it; TLS verifies the certificate against it. */
  host: string;
  addresses: ResolvedAddress[];
  allow: readonly AddressRange[];
  secureContext: SecureContext;
  /** Ends the attempt, or the connection if it stands by then. */
  signal: AbortSignal;
  /** False accepts any certificate; true unless given. */
  verify?: boolean;
  /** Hears when the connection stands, and when TLS does. */
  onStep?(step: "connected" | "secured"): void;
}

/** How long one address of several may take before the next is tried, in ms; Node's own 250 gives up on far hosts. */
const ATTEMPT_MS = 3_000;

/** An undici connector to addresses that were judged before: it never looks a name up. */
export function makeConnector({ host, addresses, allow, secureContext, signal, verify = true, onStep }: ConnectNeeds): buildConnector.connector {
  const judgedOnly: LookupFunction = (_name, { all }, answer) => {
    if (all) answer(null, addresses);
    else answer(null, addresses[0]!.address, addresses[0]!.family);
  };
  return ({ protocol, port }, callback) => {
    const secure = protocol === "https:";
    const target = { host, port: Number(port) || (secure ? 443 : 80), lookup: judgedOnly, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: ATTEMPT_MS };
    // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn verification off.
    const socket: Socket = secure ? connectSecure({ ...target, secureContext, rejectUnauthorized: verify, ALPNProtocols: ["http/1.1"], ...serverName(host) }) : connectPlain(target);
    const abort = () => socket.destroy(signal.reason as Error);
    const settle = (error: Error | null) => {
      socket.off("error", settle);
      if (error) callback(error, null);
      else callback(null, socket);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal.removeEventListener("abort", abort));
    socket.once("error", settle);
    if (onStep) socket.once("connect", () => onStep("connected")).once("secureConnect", () => onStep("secured"));
    socket.once(secure ? "secureConnect" : "connect", () => {
      const judgement = judgeAddress(socket.remoteAddress ?? "", allow);
      if (judgement.ok) settle(null);
      else socket.destroy(refuseAddress(host, judgement));
    });
  };
}

/** Server Name Indication takes names only (RFC 6066 §3). */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
