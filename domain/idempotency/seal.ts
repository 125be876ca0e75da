import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** An answer's text as it is stored: AES-256-GCM, each part in base64. */
export interface Sealed {
  iv: string;
  data: string;
  tag: string;
}

/**
 * What a caller's own secrets give. Answers hold keys and signing secrets that are shown once, so they are stored only
 * readable by who can ask again: the encryption key follows from the API key, of which the database has no more than a hash.
 */
export interface Seal {
  /** Tells whether two requests are the same; keyed, so that a short password in a body cannot be guessed from it. */
  hash(request: string): Buffer;
  close(text: string, status: number): Sealed;
  /** Throws for what was not closed by the same secrets with the same status. */
  open(sealed: Sealed, status: number): string;
}

export function makeSeal({ apiKey, idempotencyKey }: { apiKey: string; idempotencyKey: string }): Seal {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", apiKey, idempotencyKey, `pharos idempotency ${purpose}`, 32));
  return {
    hash: (request) => createHmac("sha256", derive("request")).update(request).digest(),
    close(text, status) {
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", derive("answer"), iv).setAAD(Buffer.from(String(status)));
      const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return { iv: iv.toString("base64"), data: data.toString("base64"), tag: cipher.getAuthTag().toString("base64") };
    },
    open({ iv, data, tag }, status) {
      const decipher = createDecipheriv("aes-256-gcm", derive("answer"), Buffer.from(iv, "base64"), { authTagLength: 16 }).setAAD(Buffer.from(String(status)));
      decipher.setAuthTag(Buffer.from(tag, "base64"));
      return Buffer.concat([decipher.update(Buffer.from(data, "base64")), decipher.final()]).toString("utf8");
    },
  };
}
