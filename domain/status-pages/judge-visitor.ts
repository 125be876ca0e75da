import { randomBytes } from "node:crypto";
import type { PageVisibility } from "../../schemas/vocabulary.ts";
import { showsPreview } from "../designs/preview-link.ts";
import { opensPage } from "./access-link.ts";
import { allowsAddress } from "./allows-address.ts";
import type { StatusPageRow } from "./columns.ts";
import { isPass } from "./page-pass.ts";

/** What a visitor brings, and when. */
export interface Visitor {
  /** The client's, past proxies. */
  address: string;
  /** Of a link to a private page. */
  access: string | null;
  /** Kept since the page's password was given. */
  pass: string | null;
  /** Of a link to a draft. */
  preview: string | null;
  /** Milliseconds since the epoch. */
  now: number;
}

/** `few`: to this visitor, so that no cache may give it to another; `preview`: likewise, with the draft. */
export type Judgement = { kind: "shown"; as: "everybody" | "few" | "preview" } | { kind: "password" } | { kind: "hidden" };

type JudgedPage = Pick<StatusPageRow, "id" | "slug" | "visibility" | "passwordHash" | "allowedIps" | "accessLinkSecret" | "previewLinkSecret">;

const HIDDEN: Judgement = { kind: "hidden" };
const TO_EVERYBODY: Judgement = { kind: "shown", as: "everybody" };
const TO_FEW: Judgement = { kind: "shown", as: "few" };

/** Nobody can sign for it: judging it takes as long as judging a private page whose link is not the right one. */
const NO_PAGE: JudgedPage = { id: "00000000-0000-0000-0000-000000000000", slug: "no-page", visibility: "private", passwordHash: null, allowedIps: null, accessLinkSecret: randomBytes(32), previewLinkSecret: randomBytes(32) };

/** How a page of each visibility judges who brings no preview. */
const BY_VISIBILITY: Record<PageVisibility, (page: JudgedPage, visitor: Visitor) => Judgement> = {
  public: () => TO_EVERYBODY,
  unlisted: () => TO_EVERYBODY,
  password: (page, { pass, now }) => (pass !== null && isPass(pass, page, now) ? TO_FEW : { kind: "password" }),
  ip_restricted: ({ allowedIps }, { address }) => (allowsAddress(allowedIps ?? [], address) ? TO_FEW : HIDDEN),
  private: ({ slug, accessLinkSecret }, { access, now }) => (access !== null && opensPage(access, slug, accessLinkSecret, now) ? TO_FEW : HIDDEN),
};

/** Pure: what a visitor gets to see of a page. For a page that does not exist the same is done as for a private one, so that timing does not tell. */
export function judgeVisitor(page: JudgedPage | null, visitor: Visitor): Judgement {
  const judged = page ?? NO_PAGE;
  if (visitor.preview !== null && showsPreview(visitor.preview, judged, visitor.now)) return { kind: "shown", as: "preview" };
  return BY_VISIBILITY[judged.visibility](judged, visitor);
}
