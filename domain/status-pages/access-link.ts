import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { AccessLink } from "../../schemas/api/status-pages.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockStatusPage } from "./read.ts";
import { isSignedUntil, signUntil } from "./sign-until.ts";

/** What a link to a private page carries: the second it ends and a signature over page and end. */
export interface AccessClaim {
  slug: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

/** What `opensPage` knows again. About the slug alone, which holds no line break: whatever else is signed with a page's secret has one. */
export function signAccess({ slug, expiresAt }: AccessClaim, secret: Buffer): string {
  return signUntil(expiresAt, slug, secret);
}

/** Pure: whether a link's token opens this page at `now` (milliseconds since the epoch). */
export function opensPage(token: string, slug: string, secret: Buffer, now: number): boolean {
  return isSignedUntil(token, slug, secret, now);
}

interface LinkOptions {
  expiresInSeconds: number;
  /** The address that people use, without a slash at its end. */
  publicUrl: string;
  at: Date;
}

/** Makes a link that opens a private page until it ends. INVALID_REQUEST for a page that is not private. */
export async function makeAccessLink(database: Database, actor: Actor, pageId: string, { expiresInSeconds, publicUrl, at }: LinkOptions): Promise<AccessLink> {
  return inTransaction(database, async (tx) => {
    const page = await lockStatusPage(tx, actor.organizationId, pageId);
    if (page.visibility !== "private") {
      throw new Failure("INVALID_REQUEST", `This page is ${page.visibility}: only a private page is opened by links.`, { fix: "Share the page's own address, or set status_page_visibility to private first." });
    }
    const expiresAt = Math.floor(at.getTime() / 1000) + expiresInSeconds;
    const expires_at = new Date(expiresAt * 1000).toISOString();
    // The link itself is a secret, so the audit log only hears of its end.
    await recordAudit(tx, actor, { action: "status_page.access_link_created", resourceType: "status_page", resourceId: page.id, before: null, after: { expires_at } });
    return { url: `${publicUrl}/pages/${page.slug}?access=${signAccess({ slug: page.slug, expiresAt }, page.accessLinkSecret)}`, expires_at };
  });
}
