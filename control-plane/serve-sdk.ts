import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Failure } from "../platform/failures.ts";
import { PROJECT_ROOT } from "../platform/root.ts";
import { finishDrawing, type Drawn } from "./pages/visits/drawn.ts";
import { sendDrawn } from "./pages/visits/send-drawn.ts";

const FILES = ["pharos.js", "pharos.mjs"] as const;
const HOUR_SECONDS = 3_600;
const YEAR_SECONDS = 31_536_000;

/** Any page may read them. */
const SHARED = { Vary: "Accept-Encoding", "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };

/** A file of the SDK, compressed once, for all requests. */
interface SdkFile {
  name: string;
  /** Its name with the beginning of its hash, at which it never changes. */
  pinnedName: string;
  /** As the attribute wants it (W3C Subresource Integrity). */
  integrity: string;
  drawn: Drawn;
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
    if (file) {
      void reply.header("Cache-Control", file.name === name ? `public, max-age=${HOUR_SECONDS}` : `public, max-age=${YEAR_SECONDS}, immutable`);
      return sendDrawn(request, reply, file.drawn);
    }
    if (files.length === 0) throw new Failure("UNAVAILABLE", "The browser SDK has not been built.", { fix: "Run npm run build." });
    throw new Failure("NOT_FOUND", "This version of the browser SDK is not here.", { fix: "GET /sdk names the one that is." });
  });
  app.get("/sdk", async (_request, reply) => describe(reply));

  function describe(reply: FastifyReply): FastifyReply {
    const described = files.map((file) => [
      file.name,
      { url: `${publicUrl}/sdk/${file.pinnedName}`, integrity: file.integrity, bytes: file.drawn.body.byteLength, gzip_bytes: file.drawn.gzip!.byteLength },
    ]);
    const [script] = files;
    const snippet = script && `<script src="${publicUrl}/sdk/${script.pinnedName}" integrity="${script.integrity}" crossorigin="anonymous" data-key="bpk_…" data-release="1.0.0"></script>`;
    return reply.headers({ "Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache" }).send({ ...Object.fromEntries(described), snippet });
  }
}

/** Null when it was not built. */
async function readSdkFile(name: string): Promise<SdkFile | null> {
  const body = await readFile(join(PROJECT_ROOT, "clients/browser/bundle", name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (!body) return null;
  const digest = createHash("sha384").update(body);
  const integrity = `sha384-${digest.copy().digest("base64")}`;
  const pinnedName = name.replace(".", `.${digest.digest("hex").slice(0, 16)}.`);
  return { name, pinnedName, integrity, drawn: await finishDrawing({ type: "text/javascript; charset=utf-8", body, headers: SHARED }, { before: undefined, now: Date.now() }) };
}
