import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";

export interface Certificate {
  key: string;
  cert: string;
  /** The certificate as a file, for OUTBOUND_CA_FILE: it is its own authority. */
  file: string;
  remove(): void;
}

const ECDSA_WITH_SHA256 = "06082a8648ce3d040302";
const COMMON_NAME = "0603550403";
const BASIC_CONSTRAINTS = "0603551d13";
const SUBJECT_ALT_NAME = "0603551d11";
const DAY_MS = 86_400_000;

/**
 * A fresh self-signed certificate for these names and addresses (RFC 5280), valid from yesterday until tomorrow.
 * Written by hand, because Node can read certificates but not make them, and tests should need nothing but npm.
 */
export function makeCertificate(names = ["localhost", "hooks.example.com", "127.0.0.1", "::1"]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(hex(ECDSA_WITH_SHA256));
  const name = sequence(tagged(0x31, sequence(hex(COMMON_NAME), tagged(0x0c, Buffer.from("Pharos test")))));
  const validity = sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS));
  const serial = tagged(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)]));
  const alternatives = sequence(...names.map((each) => (isIP(each) === 0 ? tagged(0x82, Buffer.from(each)) : tagged(0x87, Buffer.from(ipaddr.parse(each).toByteArray())))));
  const extensions = tagged(0xa3, sequence(extension(BASIC_CONSTRAINTS, sequence(hex("0101ff"))), extension(SUBJECT_ALT_NAME, alternatives)));
  const body = sequence(hex("a003020102"), serial, algorithm, name, validity, name, publicKey.export({ type: "spki", format: "der" }), extensions);
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const cert = `-----BEGIN CERTIFICATE-----\n${sequence(body, algorithm, signature).toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

  const folder = mkdtempSync(join(tmpdir(), "pharos-certificate-"));
  const file = join(folder, "cert.pem");
  writeFileSync(file, cert);
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }) as string, cert, file, remove: () => rmSync(folder, { recursive: true }) };
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(hex(id), tagged(0x04, value));
}

/** UTCTime. */
function time(moment: number): Buffer {
  return tagged(0x17, Buffer.from(`${new Date(moment).toISOString().slice(2, 19).replace(/\D/g, "")}Z`));
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** A DER element: tag, length, content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, "hex");
}
