import { AddressRefused } from "./resolve-public.ts";

const SENTENCES: Record<string, (host: string) => string> = {
  ENOTFOUND: (host) => `The name ${host} does not exist.`,
  EAI_AGAIN: (host) => `The name ${host} could not be looked up just now.`,
  ENODATA: (host) => `The name ${host} has no address.`,
  ECONNREFUSED: (host) => `Nothing listens at ${host}: the connection was refused.`,
  ECONNRESET: (host) => `${host} cut the connection before it had answered.`,
  EPIPE: (host) => `${host} cut the connection before it had answered.`,
  UND_ERR_SOCKET: (host) => `${host} cut the connection before it had answered.`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (host) => `${host} ended its answer before it was complete.`,
  ETIMEDOUT: (host) => `No connection to ${host} could be made in time.`,
  EHOSTUNREACH: (host) => `${host} cannot be reached from here.`,
  ENETUNREACH: (host) => `${host} cannot be reached from here.`,
  UND_ERR_HEADERS_OVERFLOW: (host) => `${host} answered with headers that are too long.`,
  CERT_HAS_EXPIRED: (host) => `The certificate of ${host} has expired.`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `The certificate of ${host} is for another name.`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `The certificate of ${host} is self-signed.`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) => `The certificate of ${host} is from an authority that is not trusted.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: (host) => `The certificate of ${host} is from an authority that is not trusted.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: (host) => `The certificate of ${host} is from an authority that is not trusted.`,
};

/** Why a request failed, as a sentence for the person who set its URL. */
export function describeError(error: unknown, host: string): string {
  if (error instanceof AddressRefused) return error.message;
  const code = codeOf(error);
  const sentence = SENTENCES[code];
  if (sentence) return sentence(host);
  if (code.startsWith("HPE_") || (error instanceof Error && error.name === "HTTPParserError")) return `${host} answered with something that is not HTTP.`;
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return `No TLS connection to ${host} could be made.`;
  // The message of a system's error names addresses, ours too, that are nobody's business; its code says enough.
  return code === "" ? `The request to ${host} failed: ${error instanceof Error ? error.message : String(error)}` : `The request to ${host} failed (${code}).`;
}

/** With several addresses Node puts the errors of the attempts into one AggregateError. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : codeOf(error.cause);
}
