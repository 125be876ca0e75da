import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../platform/failures.ts";
import { PROJECT_ROOT } from "../platform/root.ts";

const FILES = ["pharos.js", "pharos.mjs"] as const;
const HOUR_SECONDS = 3_600;
const YEAR_SECONDS = 31_536_000;

/** A file of the SDK, compressed once, for all requests. */
interface SdkFile {
  name: string;
  /** Its name with the beginning of its hash, at which it never changes. */
  pinnedName: string;
  hash: string;
  /** As the attribute wants it (W3C Subresource Integrity). */
  integrity: string;
  bodies: { br: Buffer; gzip: Buffer; identity: Buffer };
}

/**
 * The browser SDK: `/sdk/pharos.js` and `.mjs`, the same by their hash (`/sdk/pharos.<hash>.js`, for pages that pin it), and at `/sdk` what
 * a page needs to include them. Pages of any origin may read them, which `integrity` demands. `publicUrl` is where pages find the service.
 */
export async function serveSdk(app: FastifyInstance, publicUrl: string): Promise<void> {
  const files = (await Promise.all(FILES.map(readSdkFile))).filter((file) => file !== null);

  app.get<{ Params: { name: string } }>("/sdk/:name", async (request, reply) => {
    const { name } = request.params;
    const file = files.find((each) => each.name === name || each.pinnedName === name);
    if (name === "integrity.json") return describe(reply);
    if (file) return sendFile(request, reply, file, file.name === name ? `public, max-age=${HOUR_SECONDS}` : `public, max-age=${YEAR_SECONDS}, immutable`);
    if (files.length === 0) throw new Failure("UNAVAILABLE", "The browser SDK has not been built.", { fix: "Run npm run build." });
    throw new Failure("NOT_FOUND", "This version of the browser SDK is not here.", { fix: "GET /sdk names the one that is." });
  });
  app.get("/sdk", async (_request, reply) => describe(reply));

  function describe(reply: FastifyReply): FastifyReply {
    const described = files.map((file) => [
      file.name,
      { url: `${publicUrl}/sdk/${file.pinnedName}`, integrity: file.integrity, bytes: file.bodies.identity.byteLength, gzip_bytes: file.bodies.gzip.byteLength },
    ]);
    const [script] = files;
    const snippet = script && `<script src="${publicUrl}/sdk/${script.pinnedName}" integrity="${script.integrity}" crossorigin="anonymous" data-key="bpk_…" data-release="1.0.0"></script>`;
    return reply.headers({ "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache" }).send({ ...Object.fromEntries(described), snippet });
  }
}

/** Null when it was not built. */
async function readSdkFile(name: string): Promise<SdkFile | null> {
  const identity = await readFile(join(PROJECT_ROOT, "clients/browser/bundle", name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (!identity) return null;
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    promisify(gzip)(identity, { level: 9 }),
  ]);
  const digest = createHash("sha384").update(identity);
  const integrity = `sha384-${digest.copy().digest("base64")}`;
  const hash = digest.digest("hex").slice(0, 16);
  return { name, pinnedName: name.replace(".", `.${hash}.`), hash, integrity, bodies: { br, gzip: gzipped, identity } };
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { hash, bodies }: SdkFile, cacheControl: string): FastifyReply {
  const encoding = encodingFor(request.headers["accept-encoding"] ?? "");
  const etag = `"${hash}-${encoding}"`;
  void reply.headers({
    "Content-Type": "text/javascript; charset=utf-8",
    "Cache-Control": cacheControl,
    ETag: etag,
    Vary: "Accept-Encoding",
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });
  if (request.headers["if-none-match"]?.includes(etag)) return reply.code(304).send();
  if (encoding !== "identity") void reply.header("Content-Encoding", encoding);
  return reply.send(bodies[encoding]);
}

/** The smallest that the client takes (RFC 9110, 12.5.3); a weight other than 0 does not matter. */
function encodingFor(accepted: string): keyof SdkFile["bodies"] {
  const taken = accepted.toLowerCase().split(",").map((each) => each.split(";").map((part) => part.trim()));
  const takes = (name: string) => taken.some(([coding, weight = ""]) => coding === name && !/^q=0(\.0*)?$/.test(weight));
  return takes("br") ? "br" : takes("gzip") ? "gzip" : "identity";
}
