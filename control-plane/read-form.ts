import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../platform/failures.ts";
import type { UploadedFile } from "../schemas/api/source-maps.ts";
import { newUploadPath } from "./upload-files.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Files on the disk that go when the request is over. */
    uploads: string[] | null;
  }
}

const FIELDS = 20;
const FIELD_BYTES = 8 * 1024;

/** Takes forms (multipart/form-data) where a route says so and nowhere else. Their file is kept on the disk until the request is over, however it ends. */
export function registerForms(api: FastifyInstance): void {
  api.decorateRequest("uploads", null);
  api.addHook("preParsing", async (request) => {
    const isForm = /^multipart\/form-data/i.test(request.headers["content-type"] ?? "");
    if (!isForm && request.routeOptions.config.route?.form) throw new Failure("UNSUPPORTED_MEDIA_TYPE", "The body is not sent as a form.", { fix: "Send multipart/form-data, as curl does with -F." });
  });
  api.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, payload: Readable) => {
    const form = request.routeOptions.config.route?.form;
    if (!form) throw new Failure("UNSUPPORTED_MEDIA_TYPE", "The body is not sent as JSON.", { fix: "Set Content-Type: application/json." });
    return readForm(request, payload, form.fileBytes);
  });
  api.addHook("onResponse", removeUploads);
  api.addHook("onRequestAbort", removeUploads);
}

/** The form's fields by name; a file as an UploadedFile. What is wrong first is told; the rest is read all the same, for the connection's sake. */
async function readForm(request: FastifyRequest, payload: Readable, fileBytes: number): Promise<Record<string, unknown>> {
  const fields = new Map<string, unknown>();
  const files: Promise<void>[] = [];
  let refusal: unknown = null;
  const refuse = (reason: unknown): void => void (refusal ??= reason);
  const take = (name: string, value: unknown): void => {
    if (fields.has(name)) refuse(new Failure("INVALID_REQUEST", `The field ${name} is given twice.`, { path: `/${name}` }));
    fields.set(name, value);
  };
  try {
    const parser = new Busboy({ headers: request.headers as BusboyHeaders, limits: { files: 1, fields: FIELDS, parts: FIELDS + 1, fieldSize: FIELD_BYTES, fileSize: fileBytes } });
    parser.on("field", (name, value, _nameTruncated, valueTruncated) => {
      if (valueTruncated) refuse(new Failure("INVALID_REQUEST", `The field is longer than ${FIELD_BYTES} bytes.`, { path: `/${name}` }));
      take(name, value);
    });
    parser.on("file", (name, file) => {
      file.once("limit", () => refuse(new Failure("PAYLOAD_TOO_LARGE", `The file is larger than ${fileBytes / 1024 / 1024} MiB.`, { path: `/${name}` })));
      files.push(
        keepFile(request, file).then(
          (kept) => take(name, kept),
          (error: unknown) => {
            refuse(failureOfDisk(error));
            file.resume();
          },
        ),
      );
    });
    parser.once("filesLimit", () => refuse(new Failure("INVALID_REQUEST", "The form has more than one file.")));
    for (const limit of ["partsLimit", "fieldsLimit"] as const) parser.once(limit, () => refuse(new Failure("INVALID_REQUEST", `The form has more than ${FIELDS} fields.`)));
    await pipeline(payload, parser);
  } catch (error) {
    // Ours, of what packed the form; or the parser's.
    refuse(error instanceof Failure ? error : new Failure("INVALID_REQUEST", `The form cannot be read: ${(error as Error).message}.`, { fix: "Send multipart/form-data with its boundary, as curl does with -F." }));
  }
  await Promise.all(files);
  if (refusal !== null) throw refusal;
  return Object.fromEntries(fields);
}

async function keepFile(request: FastifyRequest, file: Readable): Promise<UploadedFile> {
  const path = newUploadPath();
  (request.uploads ??= []).push(path);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(file, measure, createWriteStream(path, { mode: 0o600, flags: "wx" }));
  return { path, hash: hash.digest("hex"), sizeBytes };
}

function failureOfDisk(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === "ENOSPC" ? new Failure("UNAVAILABLE", "There is no room for the file just now.", { retryAfter: 60 }) : error;
}

async function removeUploads(request: FastifyRequest): Promise<void> {
  const { uploads } = request;
  request.uploads = null;
  await Promise.all((uploads ?? []).map((path) => rm(path, { force: true })));
}
