import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createGunzip } from "node:zlib";
import { REFUSED } from "./refusal.ts";

/** The largest body, after unpacking, in bytes. */
const LARGEST_BODY = 64 * 1024 * 1024 + 64 * 1024;

/** Reads a request's body, unpacking gzip; a `Refusal` when it is larger than 64 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") throw REFUSED.notImplemented(`Content-Encoding ${encoding} is not known here; send gzip or none`);
  const source = encoding === "gzip" ? request.pipe(createGunzip()) : request;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) throw REFUSED.tooLarge(LARGEST_BODY);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

/** Throws a `Refusal` unless the request names the user `default` and the password, in any of the ways a server takes. */
export function checkPassword(request: IncomingMessage, search: URLSearchParams, password: string): void {
  const { user, key } = credentials(request, search);
  const given = Buffer.from(key);
  const right = Buffer.from(password);
  if (user !== "default" || given.length !== right.length || !timingSafeEqual(given, right)) throw REFUSED.password(user);
}

function credentials({ headers }: IncomingMessage, search: URLSearchParams): { user: string; key: string } {
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (basic !== undefined) {
    const text = Buffer.from(basic, "base64").toString("utf8");
    const colon = text.indexOf(":");
    return colon < 0 ? { user: text, key: "" } : { user: text.slice(0, colon), key: text.slice(colon + 1) };
  }
  const header = (name: string): string | undefined => [headers[name]].flat()[0];
  return {
    user: header("x-clickhouse-user") ?? search.get("user") ?? "default",
    key: header("x-clickhouse-key") ?? search.get("password") ?? "",
  };
}

/** `param_name=value` of the URL and, for `multipart/form-data`, of the body, with the query that may stand there. */
export async function readParameters(search: URLSearchParams, contentType: string | undefined, body: Buffer): Promise<{ parameters: Map<string, string>; form: { query: string } | null }> {
  const parameters = new Map<string, string>();
  const add = (name: string, value: string): void => {
    if (name.startsWith("param_")) parameters.set(name.slice("param_".length), value);
  };
  for (const [name, value] of search) add(name, value);
  if (!contentType?.startsWith("multipart/form-data")) return { parameters, form: null };
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  for (const [name, value] of form) if (typeof value === "string") add(name, value);
  const query = form.get("query");
  return { parameters, form: { query: typeof query === "string" ? query : "" } };
}
