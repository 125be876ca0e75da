import { expect, it } from "vitest";
import { makeSlug, varySlug } from "./make-slug.ts";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/;

it.each([
  { name: "Acme", slug: "acme" },
  { name: "  Café Müller & Söhne GmbH ", slug: "cafe-muller-sohne-gmbh" },
  { name: "--A--B--", slug: "a-b" },
  { name: "日本", slug: "page" },
  { name: "X", slug: "page-x" },
  { name: "5C1F8F6E 1111 4222 8333 444455556666", slug: "page-5c1f8f6e-1111-4222-8333-444455556666" },
  { name: "a".repeat(200), slug: "a".repeat(63) },
  { name: `${"a".repeat(62)} b`, slug: "a".repeat(62) },
])("$name becomes $slug", ({ name, slug }) => {
  expect(makeSlug(name)).toBe(slug);
  expect(makeSlug(name)).toMatch(SLUG);
});

it("a varied slug is one too, however long it was", () => {
  for (const slug of ["page", "a".repeat(63), `${"a".repeat(55)}-b`]) expect(varySlug(slug, "X1y2Z3")).toMatch(SLUG);
});
