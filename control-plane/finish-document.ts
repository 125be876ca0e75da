import { makeExample, type ExampleSchema } from "./make-example.ts";
import { API_ROOT } from "./route-table.ts";

interface Media {
  schema?: ExampleSchema;
  example?: unknown;
}

interface Answer {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}

/** Marks an operation whose body may be left out until `finishDocument` says so in the document's own words; the library calls every body required. */
export const OPTIONAL_BODY = "x-optional-body";

interface Operation {
  [OPTIONAL_BODY]?: boolean;
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses?: Record<string, Answer>;
}

interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, ExampleSchema>; headers?: Record<string, unknown>; parameters?: Record<string, unknown> };
}

const HEADERS = {
  "X-Request-Id": { description: "Names this request in the log; the caller's own when it sent a sane one.", schema: { type: "string" }, example: "req-4f9c1a" },
  "X-RateLimit-Limit": { description: "Requests per minute; 2147483647 when there is no limit.", schema: { type: "integer" }, example: 1000 },
  "X-RateLimit-Remaining": { description: "What is left of this minute.", schema: { type: "integer" }, example: 999 },
  "X-RateLimit-Reset": { description: "End of this minute, in seconds since the epoch.", schema: { type: "integer" }, example: 1769860860 },
  "Retry-After": { description: "Seconds after which it may go better.", schema: { type: "integer" }, example: 30 },
  "Idempotency-Replayed": { description: "`true` when this is the first answer given again.", schema: { type: "string", enum: ["true"] } },
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes it safe to send the request again: for 24 hours the same key and body get the first answer again. Another body is 409 `IDEMPOTENCY_MISMATCH`; while the first is being answered it is 409 `CONFLICT` with `Retry-After`. " +
    "Answers that ask to try again (429, 5xx) are not kept, nor is a 400 of the body. Of an answer of more than 256 KiB a repetition is told with `CONFLICT` that it was done.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
  example: "7d2f1c1e-6d0b-4d0e-9a55-3a0a4c0d8f11",
};

const HAS_RETRY_AFTER = new Set(["409", "429", "503"]);

/** Texts whose format says all that the library's long expression for it says. */
const TOLD_BY_FORMAT = new Set<unknown>(["date-time", "uuid"]);

function dropFormatPatterns(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  const schema = part as { format?: unknown; pattern?: unknown };
  if (TOLD_BY_FORMAT.has(schema.format)) delete schema.pattern;
  for (const inner of Object.values(part)) dropFormatPatterns(inner);
}

/** What every operation has, said once: headers, the Idempotency-Key, and examples; and schemas that nothing refers to are left out. */
export function finishDocument<Given extends object>(given: Given): Given {
  const document = withUsedSchemas(structuredClone(given)) as Document;
  dropFormatPatterns(document);
  const schemas = document.components?.schemas ?? {};
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods)) {
      const isPost = method === "post" && path.startsWith(`${API_ROOT}/`);
      if (isPost) operation.parameters = [...(operation.parameters ?? []), { $ref: "#/components/parameters/IdempotencyKey" }];
      if (operation[OPTIONAL_BODY] && operation.requestBody) operation.requestBody.required = false;
      delete operation[OPTIONAL_BODY];
      describeFile(operation.requestBody?.content["multipart/form-data"]?.schema, schemas);
      for (const media of Object.values(operation.requestBody?.content ?? {})) addExample(media, schemas);
      for (const [status, answer] of Object.entries(operation.responses ?? {})) finishAnswer(answer, status, isPost, schemas);
    }
  }
  document.components = { ...document.components, headers: { ...HEADERS }, parameters: { IdempotencyKey: { ...IDEMPOTENCY_KEY } } };
  return document as Given;
}

/** What handlers get in place of a file is where it lies; who sends it sends bytes. */
function describeFile(schema: ExampleSchema | undefined, schemas: Record<string, ExampleSchema>): void {
  const fields = (schema?.$ref ? schemas[schema.$ref.split("/").at(-1)!] : schema)?.properties;
  if (fields) fields.file = { type: "string", format: "binary", ...(fields.file?.description !== undefined && { description: fields.file.description }), example: "@dist/app.js.map" };
}

function finishAnswer(answer: Answer, status: string, isPost: boolean, schemas: Record<string, ExampleSchema>): void {
  const names = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
  if (HAS_RETRY_AFTER.has(status)) names.push("Retry-After");
  if (isPost && status < "500" && status !== "429" && status !== "401") names.push("Idempotency-Replayed");
  answer.headers = { ...answer.headers, ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
  const isFailure = status >= "400";
  for (const media of Object.values(answer.content ?? {})) {
    addExample(media, schemas);
    // One shape for all of them; the code at least is the status' own.
    if (isFailure) media.example = { ...(media.example as object), code: answer.description.split(",")[0] };
  }
}

function addExample(media: Media, schemas: Record<string, ExampleSchema>): void {
  if (media.schema && media.example === undefined) media.example = makeExample(media.schema, schemas);
}

/** The schema library gives each schema twice, as it is read and as it is answered; mostly one of them is used, and keeps the plain name. */
function withUsedSchemas(document: object): object {
  const schemas = (document as Document).components?.schemas ?? {};
  const used = new Set<string>();
  const collect = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name) || !(name in schemas)) continue;
      used.add(name);
      collect(schemas[name]);
    }
  };
  collect((document as Document).paths ?? {});
  const plain = (name: string) => (name.endsWith("Input") && !used.has(name.slice(0, -"Input".length)) ? name.slice(0, -"Input".length) : name);
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  const text = JSON.stringify({ ...document, components: { ...(document as Document).components, schemas: kept } });
  const renamed = JSON.parse(text.replace(/"#\/components\/schemas\/([^"]+)"/g, (_, name: string) => `"#/components/schemas/${plain(name)}"`)) as Document;
  renamed.components!.schemas = Object.fromEntries(Object.entries(renamed.components!.schemas!).map(([name, schema]) => [plain(name), schema]));
  return renamed;
}
