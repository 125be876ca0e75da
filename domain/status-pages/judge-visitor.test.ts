import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PAGE_VISIBILITIES, type PageVisibility } from "../../schemas/vocabulary.ts";
import { showsPreview, signPreview } from "../designs/preview-link.ts";
import { opensPage, signAccess } from "./access-link.ts";
import { judgeVisitor, type Visitor } from "./judge-visitor.ts";
import { isPass, PASS_SECONDS, signPass } from "./page-pass.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const END = NOW / 1_000 + 60;

const page = {
  id: "5c1f8f6e-1111-4222-8333-444455556666",
  slug: "acme",
  passwordHash: "$argon2id$one",
  allowedIps: ["203.0.113.0/24", "2001:db8::/32"],
  accessLinkSecret: randomBytes(32),
  previewLinkSecret: randomBytes(32),
};
const other = { ...page, id: "5c1f8f6e-1111-4222-8333-444455557777", slug: "acme-2", accessLinkSecret: randomBytes(32), previewLinkSecret: randomBytes(32) };
/** Its name and its id, and another secret: as its own after the secret was changed. */
const forged = { ...page, accessLinkSecret: randomBytes(32), previewLinkSecret: randomBytes(32) };

const stranger: Visitor = { address: "198.51.100.7", access: null, pass: null, preview: null, now: NOW };
const accessOf = ({ slug, accessLinkSecret }: typeof page, expiresAt = END) => signAccess({ slug, expiresAt }, accessLinkSecret);

const everybody = { kind: "shown", as: "everybody" };
const few = { kind: "shown", as: "few" };
const preview = { kind: "shown", as: "preview" };
const password = { kind: "password" };
const hidden = { kind: "hidden" };

/** What everybody gets to see without anything that counts. */
const PLAIN = { public: everybody, unlisted: everybody, password, ip_restricted: hidden, private: hidden } satisfies Record<PageVisibility, object>;

/** What a visitor brings, and where it changes something. */
const CREDENTIALS: { name: string; brings: Partial<Visitor>; changes?: Partial<Record<PageVisibility, object>> }[] = [
  { name: "nothing", brings: {} },
  { name: "a link", brings: { access: accessOf(page) }, changes: { private: few } },
  { name: "a link that has ended", brings: { access: accessOf(page, NOW / 1_000) } },
  { name: "a link to another page", brings: { access: accessOf(other) } },
  { name: "a forged link", brings: { access: accessOf(forged) } },
  { name: "rubbish for a link", brings: { access: "x" } },
  { name: "a pass", brings: { pass: signPass(page, NOW) }, changes: { password: few } },
  { name: "a pass that has ended", brings: { pass: signPass(page, NOW - PASS_SECONDS * 1_000) } },
  { name: "a pass of another page", brings: { pass: signPass(other, NOW) } },
  { name: "a pass of another password", brings: { pass: signPass({ ...page, passwordHash: "$argon2id$two" }, NOW) } },
  { name: "a forged pass", brings: { pass: signPass(forged, NOW) } },
  { name: "an empty pass", brings: { pass: "" } },
  { name: "a preview", brings: { preview: signPreview(page, END) }, changes: Object.fromEntries(PAGE_VISIBILITIES.map((each) => [each, preview])) },
  { name: "a preview that has ended", brings: { preview: signPreview(page, NOW / 1_000) } },
  { name: "a preview of another page", brings: { preview: signPreview(other, END) } },
  { name: "a forged preview", brings: { preview: signPreview(forged, END) } },
  { name: "a link where others belong", brings: { pass: accessOf(page), preview: accessOf(page) } },
  { name: "a pass where others belong", brings: { access: signPass(page, NOW), preview: signPass(page, NOW) } },
  { name: "a preview where others belong", brings: { access: signPreview(page, END), pass: signPreview(page, END) } },
  { name: "an address in a range", brings: { address: "203.0.113.9" }, changes: { ip_restricted: few } },
  { name: "an address in a range in IPv6 form", brings: { address: "::ffff:203.0.113.9" }, changes: { ip_restricted: few } },
  { name: "the same in hexadecimal", brings: { address: "::ffff:cb00:7109" }, changes: { ip_restricted: few } },
  { name: "an IPv6 address in a range", brings: { address: "2001:DB8:1::9" }, changes: { ip_restricted: few } },
  { name: "an IPv6 address in a range with a zone", brings: { address: "2001:db8:1::9%eth0" }, changes: { ip_restricted: few } },
  { name: "an IPv6 address outside", brings: { address: "2001:db9::9" } },
  { name: "no address", brings: { address: "" } },
  { name: "an address that is none", brings: { address: "203.0.113.256" } },
  { name: "an address with a port", brings: { address: "203.0.113.9:80" } },
  { name: "two addresses", brings: { address: "203.0.113.9, 203.0.113.9" } },
  { name: "an address in another notation", brings: { address: "3405803785" } },
];

describe.each(CREDENTIALS)("with $name", ({ brings, changes = {} }) => {
  it.each(PAGE_VISIBILITIES)("a page that is %s", (visibility) => {
    expect(judgeVisitor({ ...page, visibility }, { ...stranger, ...brings })).toEqual({ ...PLAIN, ...changes }[visibility]);
  });

  it("a page that does not exist is hidden", () => {
    expect(judgeVisitor(null, { ...stranger, ...brings })).toEqual(hidden);
  });
});

it.each([
  { name: "without ranges", allowedIps: null, address: "203.0.113.9", expected: hidden },
  { name: "with none", allowedIps: [], address: "203.0.113.9", expected: hidden },
  { name: "with a range that is none", allowedIps: ["nonsense", "203.0.113.0/40", ""], address: "203.0.113.9", expected: hidden },
  { name: "with a range that is none before one that is", allowedIps: ["nonsense", "203.0.113.9/32"], address: "203.0.113.9", expected: few },
  { name: "with all of IPv6", allowedIps: ["::/0"], address: "203.0.113.9", expected: hidden },
  { name: "with all of IPv4", allowedIps: ["0.0.0.0/0"], address: "198.51.100.7", expected: few },
])("an ip_restricted page $name shows itself to $address as $expected.kind", ({ allowedIps, address, expected }) => {
  expect(judgeVisitor({ ...page, visibility: "ip_restricted", allowedIps }, { ...stranger, address })).toEqual(expected);
});

it("a password page that has lost its password lets nobody in", () => {
  const open = { ...page, visibility: "password" as const, passwordHash: null };
  expect(judgeVisitor(open, { ...stranger, pass: signPass(open, NOW) })).toEqual(password);
});

it("nothing that is signed for one purpose counts for another", () => {
  const tokens = { access: accessOf(page), pass: signPass(page, NOW), preview: signPreview(page, END) };
  const counts = (token: string) => [opensPage(token, page.slug, page.accessLinkSecret, NOW), isPass(token, page, NOW), showsPreview(token, page, NOW)];
  expect([counts(tokens.access), counts(tokens.pass), counts(tokens.preview)]).toEqual([[true, false, false], [false, true, false], [false, false, true]]);
});

it("links that were made before there were passes still open their pages", () => {
  const token = "1798675200.LvJs0WPYKmPCSjm4cOTr_G4QHVbWjLa1wZ2f_-dVCPQ";
  expect(opensPage(token, "acme", Buffer.alloc(32, 7), NOW)).toBe(true);
});
