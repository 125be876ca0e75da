import { describe, expect, it } from "vitest";
import { maskSecrets } from "./mask-secrets.ts";
import { changedFields, withoutUnchanged } from "./record.ts";

describe("changed fields", () => {
  it.each([
    { name: "of something new are all its fields", before: null, after: { name: "a", status: "b" }, expected: ["name", "status"] },
    { name: "of something deleted are all its fields", before: { name: "a" }, after: null, expected: ["name"] },
    { name: "are those that differ, at any depth", before: { a: 1, b: { c: [1] }, d: 2 }, after: { a: 1, b: { c: [2] }, d: 3 }, expected: ["b", "d"] },
    { name: "name what came and what went", before: { gone: 1 }, after: { came: 1 }, expected: ["came", "gone"] },
    { name: "leave out the time of the change", before: { updated_at: "1" }, after: { updated_at: "2" }, expected: [] },
    { name: "name a secret that changed", before: { signing_secret: "a" }, after: { signing_secret: "b" }, expected: ["signing_secret"] },
  ])("$name", ({ before, after, expected }) => {
    expect(changedFields(before, after)).toEqual(expected);
  });
});

describe("states", () => {
  const large = "x".repeat(1_000);

  it("leave out large values that did not change, and nothing else", () => {
    const [before, after] = [{ name: "a", html: large, css: large, text: "small" }, { name: "b", html: large, css: `${large}!`, text: "small" }];
    expect(withoutUnchanged(before, after)).toEqual({ before: { name: "a", css: large, text: "small" }, after: { name: "b", css: `${large}!`, text: "small" } });
  });

  it("of what was made or deleted are whole", () => {
    expect(withoutUnchanged(null, { html: large })).toEqual({ before: null, after: { html: large } });
    expect(withoutUnchanged({ html: large }, null)).toEqual({ before: { html: large }, after: null });
  });
});

describe("masking", () => {
  it("hides values by the name of their field, at any depth, and keeps names", () => {
    const state = {
      name: "Ops",
      signing_secret: "s",
      signingSecret: "s",
      routing_key: "s",
      key: "s",
      status_page_password: "s",
      config: { webhook_url: "https://hooks.example/s", secret: "s", channel: "#ops" },
      tokens: ["s", "s"],
      headers: { "X-Team": "s", nested: { a: 1 } },
    };
    expect(maskSecrets(state)).toEqual({
      name: "Ops",
      signing_secret: "[masked]",
      signingSecret: "[masked]",
      routing_key: "[masked]",
      key: "[masked]",
      status_page_password: "[masked]",
      config: { webhook_url: "[masked]", secret: "[masked]", channel: "#ops" },
      tokens: ["[masked]", "[masked]"],
      headers: { "X-Team": "[masked]", nested: { a: "[masked]" } },
    });
  });

  it("leaves what is no secret", () => {
    const state = { url: "https://example.com", status_page_password_hint: "the usual", secret: null, password: "", is_active: true, keyboard: "qwerty", theme_mode: "dark", prefix: "psk_12345678" };
    expect(maskSecrets(state)).toEqual(state);
  });
});
