import { readFileSync } from "node:fs";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { StartFailure } from "../start-failure.ts";

/** By file: parsing some 150 certificates takes tens of milliseconds. */
const made = new Map<string | null, SecureContext>();

/** The public authorities and those of a PEM file, read once in a process. StartFailure when the file cannot be read. */
export function trust(caFile: string | null): SecureContext {
  const context = made.get(caFile) ?? makeContext(caFile);
  made.set(caFile, context);
  return context;
}

function makeContext(caFile: string | null): SecureContext {
  if (caFile === null) return createSecureContext({});
  try {
    return createSecureContext({ ca: [...rootCertificates, readFileSync(caFile, "utf8")] });
  } catch (error) {
    throw new StartFailure(`OUTBOUND_CA_FILE="${caFile}" cannot be used: ${error instanceof Error ? error.message : String(error)}.`, { fix: "Name a readable PEM file of certificates, or leave it empty.", cause: error });
  }
}
