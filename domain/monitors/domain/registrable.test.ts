import { describe, expect, it } from "vitest";
import { registrableDomain } from "./registrable.ts";

describe("registrableDomain", () => {
  it.each([
    ["example.com", "example.com"],
    ["Shop.Example.CO.UK", "example.co.uk"],
    ["a.b.c.example.com.", "example.com"],
    ["example.uk", "example.uk"],
    ["www.example.com.au", "example.com.au"],
    ["www.example.com.br", "example.com.br"],
    ["www.example.co.jp", "example.co.jp"],
    ["bücher.example.de", "example.de"],
    ["www.bücher.de", "xn--bcher-kva.de"],
    ["例子.中国", "xn--fsqu00a.xn--fiqs8s"],
    ["user.github.io", "github.io"],
    ["constructor.com", "constructor.com"],
  ])("of %s is %s", (text, domain) => expect(registrableDomain(text)).toEqual({ ok: true, domain }));

  it.each(["https://example.com", "example.com/path", "example.com:443", "user@example.com", "example", "com", "co.uk", "192.0.2.1", "0x7f.1", "[::1]", "::1", "exa mple.com", "-a.com", "a_b.com", "a..com", ".", "", "example.123", `${"a".repeat(64)}.com`, `${"a.".repeat(130)}com`, "a\r\nb.com", "example.constructor-"])("refuses %j", (text) => {
    expect(registrableDomain(text)).toEqual({ ok: false, sentence: expect.stringMatching(/^[A-Zc].*\.$/) as string });
  });
});
