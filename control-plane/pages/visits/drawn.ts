import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A page or form as it is sent, in each encoding. */
export interface Drawn {
  type: string;
  body: Buffer;
  gzip: Buffer | null;
  br: Buffer | null;
  /** Hash of the body, for entity tags. */
  hash: string;
  /** When this body was first drawn here: epoch seconds, and as headers say it. */
  changedAt: number;
  lastModified: string;
  headers: Readonly<Record<string, string>>;
}

/** Below this an encoding saves nothing. */
const LEAST_COMPRESSED = 600;

/** A page is compressed once and sent often, but somebody waits for the first. */
const BROTLI_QUALITY = 6;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

interface Finished {
  type: string;
  body: Buffer;
  headers: Readonly<Record<string, string>>;
}

/** What is sent as it is. */
export function uncompressed({ type, body, headers }: Finished, now: number): Drawn {
  const changedAt = Math.floor(now / 1000);
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return { type, body, gzip: null, br: null, hash, changedAt, lastModified: new Date(changedAt * 1000).toUTCString(), headers };
}

/** Compresses for sending. `before` is what was drawn in its place; the same body keeps its moment of change. */
export async function finishDrawing(finished: Finished, { before, now }: { before: Drawn | undefined; now: number }): Promise<Drawn> {
  const plain = uncompressed(finished, now);
  const { type, body, hash, headers } = plain;
  if (before?.hash === hash && before.type === type) return { ...before, headers };
  // Dates count in seconds: what changed twice in one must not look like the first.
  const changedAt = Math.max(plain.changedAt, (before?.changedAt ?? 0) + 1);
  const dated = { ...plain, changedAt, lastModified: new Date(changedAt * 1000).toUTCString() };
  if (body.length < LEAST_COMPRESSED) return dated;
  const [zipped, brotli] = await Promise.all([toGzip(body, { level: 6 }), toBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } })]);
  return { ...dated, gzip: zipped, br: brotli };
}

/** How many bytes it keeps in memory. */
export function sizeOf({ body, gzip, br }: Drawn): number {
  return body.length + (gzip?.length ?? 0) + (br?.length ?? 0) + 1_000;
}
