import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { PreviewLink } from "../../schemas/api/designs.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { isSignedUntil, signUntil } from "../status-pages/sign-until.ts";
import { lockPageWithVersions } from "./read.ts";

type PreviewedPage = Pick<StatusPageRow, "id" | "previewLinkSecret">;

/** What `showsPreview` knows again; `expiresAt` in seconds since the epoch. */
export function signPreview(page: PreviewedPage, expiresAt: number): string {
  return signUntil(expiresAt, aboutOf(page), page.previewLinkSecret);
}

/** Pure: whether a link's token shows this page with its draft at `now` (milliseconds since the epoch). */
export function showsPreview(token: string, page: PreviewedPage, now: number): boolean {
  return isSignedUntil(token, aboutOf(page), page.previewLinkSecret, now);
}

/** Of the page and not of one version: who was asked to look sees the draft as it is by then, and what was published when there is none any more. */
function aboutOf({ id }: PreviewedPage): string {
  return `preview\n${id}`;
}

interface LinkOptions {
  expiresInSeconds: number;
  /** The address that people use, without a slash at its end. */
  publicUrl: string;
  at: Date;
}

/** Makes a link that shows a page with its draft until it ends, whatever the page's visibility. NOT_FOUND for the page and for a missing draft. */
export async function makePreviewLink(database: Database, actor: Actor, pageId: string, { expiresInSeconds, publicUrl, at }: LinkOptions): Promise<PreviewLink> {
  return inTransaction(database, async (tx) => {
    const { page, draft } = await lockPageWithVersions(tx, actor.organizationId, pageId);
    if (!draft) throw new Failure("NOT_FOUND", "There is no draft to preview.", { fix: "PUT …/design/draft makes one." });
    const expiresAt = Math.floor(at.getTime() / 1_000) + expiresInSeconds;
    const expires_at = new Date(expiresAt * 1_000).toISOString();
    // The link itself is a secret, so the audit log only hears of its end.
    await recordAudit(tx, actor, { action: "design.preview_link_created", resourceType: "design_version", resourceId: draft.id, before: null, after: { status_page_id: page.id, expires_at } });
    return { url: `${publicUrl}/pages/${page.slug}?preview=${signPreview(page, expiresAt)}`, expires_at };
  });
}
