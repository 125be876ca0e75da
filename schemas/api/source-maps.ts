import { z } from "zod";
import { UNMAPPED_REASONS } from "../frames.ts";
import { OriginalPosition } from "./errors.ts";
import { limit, Offset, Success, Timestamp } from "./shared.ts";

/** Bytes of an uploaded map (conventions §1). */
export const SOURCE_MAP_BYTES = 64 * 1024 * 1024;

/** A file of a form, kept on the disk until the request is answered. */
export const UploadedFile = z.object({
  path: z.string(),
  /** SHA-256 in hex. */
  hash: z.string(),
  sizeBytes: z.int(),
});
export type UploadedFile = z.infer<typeof UploadedFile>;

const ScriptUrl = z.string().trim().min(1).max(2_048);
/** As a beacon's: a longer one could never be met. */
const ReleaseName = z.string().trim().min(1).max(200);

export const UploadSourceMap = z
  .strictObject({
    file: UploadedFile.meta({ description: "The source map, not the script." }),
    url: ScriptUrl.meta({ description: "Address of the minified script as stacks print it; `~/` in place of scheme and host stands for any.", example: "~/static/app.3f2a.js" }),
    release: ReleaseName.meta({ description: "As the beacons name it.", example: "1.4.0" }),
    service_id: z.string().meta({ description: "The service whose beacons meet the script." }),
  })
  .meta({ id: "UploadSourceMap" });
export type UploadSourceMap = z.infer<typeof UploadSourceMap>;

export const SourceMap = z
  .object({
    id: z.uuid(),
    url: z.string().meta({ example: "~/static/app.3f2a.js" }),
    release: z.string().meta({ example: "1.4.0" }),
    service_id: z.uuid(),
    debug_id: z.uuid().nullable(),
    size_bytes: z.int(),
    uploaded_at: Timestamp,
  })
  .meta({ id: "SourceMap" });
export type SourceMap = z.infer<typeof SourceMap>;

export const SourceMapUploaded = Success.extend({ sourcemap: SourceMap });

export const SourceMapListItem = z
  .object({
    id: z.uuid(),
    release_version: z.string().meta({ example: "1.4.0" }),
    file_url: z.string().meta({ example: "~/static/app.3f2a.js" }),
    environment: z.string().nullable().meta({ description: "Of the release; null while nothing has named one." }),
    service_id: z.uuid(),
    debug_id: z.uuid().nullable(),
    size_bytes: z.int(),
    created_at: Timestamp,
  })
  .meta({ id: "SourceMapListItem" });
export type SourceMapListItem = z.infer<typeof SourceMapListItem>;

export const SourceMapList = z.object({ sourcemaps: z.array(SourceMapListItem) });

export const SourceMapListQuery = z.strictObject({
  release: z.string().optional().meta({ description: "Only this release's." }),
  service_id: z.string().optional().meta({ description: "Only this service's." }),
  limit: limit(50, 100),
  offset: Offset,
});
export type SourceMapListQuery = z.output<typeof SourceMapListQuery>;

/** 1-based, as stacks print them. */
const Place = z.int().min(1).max(2_147_483_647);

export const LookUpSourceMap = z
  .strictObject({
    service_id: z.string(),
    release: ReleaseName.meta({ example: "1.4.0" }),
    url: ScriptUrl.meta({ description: "Of the script, as the stack prints it.", example: "https://shop.example/static/app.3f2a.js" }),
    line: Place.meta({ example: 1 }),
    column: Place.meta({ example: 48_213 }),
  })
  .meta({ id: "LookUpSourceMap" });
export type LookUpSourceMap = z.infer<typeof LookUpSourceMap>;

export const SourceMapLookup = z
  .object({
    original: OriginalPosition.nullable(),
    unmapped_reason: z.enum(UNMAPPED_REASONS).nullable().meta({ description: "Why there is no original." }),
    ignored: z.boolean().meta({ description: "The map says that the source is a library's." }),
  })
  .meta({ id: "SourceMapLookup" });
export type SourceMapLookup = z.infer<typeof SourceMapLookup>;
