import type { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { brokenDigest } from "./signature-algorithm.ts";

/** What a server showed, and what does not depend on the time about it. */
export interface FetchedCertificate {
  issuer: string;
  subject: string;
  validFrom: Date;
  validTo: Date;
  serialNumber: string;
  /** SHA-256, as pairs of hexadecimal digits with colons between. */
  fingerprint: string;
  san: string[];
  /** Sentences about what is wrong with it at any time. */
  faults: string[];
  /** A certificate above it is not in force; as a sentence. */
  chainFault: string | null;
}

interface Handshake {
  peer: PeerCertificate;
  nameMatches: boolean;
  /** OpenSSL's name of what is wrong with the chain; null when it leads to a trusted authority. */
  chainError: string | null;
  /** The server sent the issuer's certificate too, or is its own issuer. */
  issuerSent: boolean;
}

/** Fewer bits are within reach of those who break keys (CA/Browser Forum, Baseline Requirements §6.1.5). */
const LEAST_BITS = { rsa: 2_048, ec: 256 };
const EC_BITS: Record<string, number> = { prime192v1: 192, secp192k1: 192, secp224r1: 224, secp224k1: 224 };
const NAMES_SHOWN = 5;

export function readCertificate(certificate: X509Certificate, { peer, nameMatches, chainError, issuerSent }: Handshake): FetchedCertificate {
  const issuer = nameOf(peer.issuer, certificate.issuer);
  const san = readNames(certificate.subjectAltName ?? "");
  // Of the leaf's own dates is judged elsewhere, by the clock; OpenSSL names its last finding, and its dates come last.
  const outOfDate = chainError === "CERT_HAS_EXPIRED" || chainError === "CERT_NOT_YET_VALID";
  const faults = [nameMatches ? null : nameFault(san, peer), chainError === null || outOfDate ? null : chainFault(chainError, issuer, { certificate, issuerSent }), weakness(certificate)];
  return {
    issuer,
    subject: nameOf(peer.subject, certificate.subject),
    validFrom: new Date(certificate.validFrom),
    validTo: new Date(certificate.validTo),
    serialNumber: certificate.serialNumber,
    fingerprint: certificate.fingerprint256,
    san,
    faults: faults.filter((fault) => fault !== null),
    chainFault: outOfDate ? `A certificate in its chain ${chainError === "CERT_HAS_EXPIRED" ? "has expired" : "is not yet in force"}: renew the chain that the server sends.` : null,
  };
}

/** Such as `CN=R11, O=Let's Encrypt`; the whole name when it has neither. */
function nameOf(parts: { CN?: string | string[]; O?: string | string[] } | undefined, whole: string | undefined): string {
  const named = (["CN", "O"] as const).flatMap((key) => [parts?.[key] ?? []].flat().map((value) => `${key}=${value}`));
  return storable(named.length > 0 ? named.join(", ") : (whole ?? "").replaceAll("\n", ", "));
}

/** `DNS:a.example, IP Address:192.0.2.1` → the names; one that holds a comma or a quote stands in quotes, as JSON. */
function readNames(text: string): string[] {
  const entries = text.match(/(?:[^,"]|"(?:\\.|[^"\\])*")+/g) ?? [];
  return entries.map((entry) => storable(entry.trim().replace(/^(?:DNS|IP Address):/, "")));
}

function nameFault(san: readonly string[], peer: PeerCertificate): string {
  const names = san.length > 0 ? san : [peer.subject?.CN].flat().filter((name) => name !== undefined);
  if (names.length === 0) return "The certificate names no host.";
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : "";
  return `The certificate is for other names: ${storable(names.slice(0, NAMES_SHOWN).join(", "))}${more}.`;
}

function chainFault(code: string, issuer: string, { certificate, issuerSent }: { certificate: X509Certificate; issuerSent: boolean }): string {
  switch (code) {
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return "The certificate is self-signed.";
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      // Public authorities say in each certificate where their own is to be had (RFC 5280 §4.2.2.1), others hardly ever do.
      if (!issuerSent && certificate.infoAccess?.includes("CA Issuers")) return `The chain is incomplete: the server does not send the intermediate certificate ${issuer}.`;
      return `The certificate was issued by an authority that is not trusted, or the server does not send its intermediate certificate: ${issuer}.`;
    case "SELF_SIGNED_CERT_IN_CHAIN":
      return `The certificate was issued by an authority that is not trusted: ${issuer}.`;
    default:
      return `The certificate's chain cannot be verified (${code}).`;
  }
}

function weakness(certificate: X509Certificate): string | null {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  const bits = type === "ec" ? (EC_BITS[details?.namedCurve ?? ""] ?? LEAST_BITS.ec) : details?.modulusLength;
  const least = type === "ec" ? LEAST_BITS.ec : LEAST_BITS.rsa;
  if (bits !== undefined && bits < least) return `The certificate's key is weak: ${bits} bits, where ${least} are the least.`;
  const digest = brokenDigest(certificate.raw);
  return digest === null ? null : `The certificate's signature is weak: it uses ${digest}.`;
}

/** Postgres' text cannot hold the character NUL, and anybody may put one into a certificate. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}
