import { z } from "zod";
import { limit, Offset, Timestamp } from "./shared.ts";

/** A beacon's release is cut at 200 characters, so no longer one could ever be met. */
const Version = z.string().trim().min(1).max(200).meta({ description: "As the beacons name it.", example: "1.4.0" });
const Commits = z
  .array(z.record(z.string(), z.unknown()))
  .max(1000)
  .meta({ description: "What is in it, in whatever form the sender keeps.", example: [{ id: "9fceb02", message: "Fix the coupon field", author: "ada@example.com" }] });
/** A list shows those of a hundred releases. */
const COMMITS_BYTES = 65_536;
const NewCommits = Commits.refine(
  (commits) => Buffer.byteLength(JSON.stringify(commits)) <= COMMITS_BYTES,
  "must be at most 64 KiB of JSON together: leave out what can be looked up by a commit's id",
);
const Environment = z.string().trim().min(1).max(64);
const ReleaseUrl = z.url({ protocol: /^https?$/ }).max(2048);

export const Release = z
  .object({
    id: z.uuid(),
    service_id: z.uuid(),
    version: z.string().meta({ example: "1.4.0" }),
    environment: z.string().nullable().meta({ example: "production" }),
    url: z.string().nullable().meta({ example: "https://git.example.com/shop/releases/1.4.0" }),
    commits: Commits,
    released_at: Timestamp.nullable(),
    new_errors: z.int().meta({ description: "Error signatures whose first event was in this release." }),
    regressed_errors: z.int().meta({ description: "Resolved error signatures that this release brought back." }),
    sourcemap_count: z.int(),
    created_at: Timestamp.meta({ description: "When it was made here or first named by a beacon." }),
  })
  .meta({ id: "Release" });
export type Release = z.infer<typeof Release>;

export const ReleaseList = z.object({ releases: z.array(Release) });

export const ReleaseListQuery = z.strictObject({
  service_id: z.string().optional().meta({ description: "Only this service's." }),
  limit: limit(50, 100),
  offset: Offset,
});
export type ReleaseListQuery = z.output<typeof ReleaseListQuery>;

export const CreateRelease = z
  .strictObject({
    service_id: z.string(),
    version: Version,
    environment: Environment.nullish().meta({ example: "production" }),
    url: ReleaseUrl.nullish().meta({ example: "https://git.example.com/shop/releases/1.4.0" }),
    commits: NewCommits.optional(),
    released_at: Timestamp.nullish().meta({ example: "2026-01-31T12:00:00Z" }),
  })
  .meta({ id: "CreateRelease" });
export type CreateRelease = z.infer<typeof CreateRelease>;
