import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Bytes of a form that are read; the longest password takes less than a third, each character written with nine. */
const MAX_FORM_BYTES = 8_192;

/** Takes forms as browsers send them. Whatever else comes, or more than a password could need, is read and forgotten: it holds no password. */
export function takePasswords(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/x-www-form-urlencoded", async (_request: FastifyRequest, payload: Readable) => new URLSearchParams(await readStart(payload)).get("password") ?? "");
  scope.addContentTypeParser("*", async (_request: FastifyRequest, payload: Readable) => void (await readStart(payload)));
}

/** The text of a form, or nothing when it is too long. To its end: who hangs up on a browser that is sending cannot answer it. */
async function readStart(payload: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_FORM_BYTES) chunks.push(chunk);
  }
  return length <= MAX_FORM_BYTES ? Buffer.concat(chunks).toString() : "";
}

/** What `takePasswords` made of a request's body; empty when there is none. */
export function passwordOf({ body }: FastifyRequest): string {
  return typeof body === "string" ? body : "";
}
