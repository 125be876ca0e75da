import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { opensPage, signAccess } from "./access-link.ts";

const secret = randomBytes(32);
const now = Date.UTC(2026, 0, 1);
const expiresAt = now / 1000 + 60;
const token = signAccess({ slug: "acme", expiresAt }, secret);

test.each([
  { name: "its own page before its end", token, slug: "acme", secret, now, opens: true },
  { name: "its page at its end", token, slug: "acme", secret, now: now + 60_000, opens: false },
  { name: "another page", token, slug: "acme-2", secret, now, opens: false },
  { name: "its page after the secret was changed", token, slug: "acme", secret: randomBytes(32), now, opens: false },
  { name: "a later end of one's own", token: token.replace(String(expiresAt), String(expiresAt + 1)), slug: "acme", secret, now, opens: false },
  { name: "nothing", token: "", slug: "acme", secret, now, opens: false },
  { name: "rubbish", token: "1.2.3", slug: "acme", secret, now, opens: false },
  { name: "a cut signature", token: token.slice(0, -1), slug: "acme", secret, now, opens: false },
])("a link opens $name: $opens", ({ opens, ...claim }) => {
  expect(opensPage(claim.token, claim.slug, claim.secret, claim.now)).toBe(opens);
});
