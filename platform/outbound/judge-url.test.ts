import { describe, expect, it } from "vitest";
import { parseRanges } from "./judge-address.ts";
import { judgeUrl } from "./judge-url.ts";

const judge = (url: string, { allowHttp = false, allow = [] as string[], ports = [] as [number, number][] } = {}) => judgeUrl(url, { allowHttp, allow: parseRanges(allow), ports });

describe("a URL", () => {
  it.each(["https://hooks.example.com/pharos?a=b", "https://hooks.example.com:8443/", "https://hooks.example.com./", "https://1.1.1.1/", "https://[2606:4700:4700::1111]/", "https://notlocalhost/", "HTTPS://EXAMPLE.COM", "https://bücher.example/"])("%s may be called", (url) => {
    expect(judge(url)).toEqual({ ok: true });
  });

  it.each([
    "https://127.0.0.1/", "https://127.0.0.1./", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/", "https://2130706433/", "https://017700000001/", "https://0177.0.0.1/", "https://0/", "https://１２７.0.0.1/",
    "https://127.0.0.1%2e/", "https://%31%32%37.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[0:0:0:0:0:ffff:7f00:1]/", "https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://169.254.169.254/latest/meta-data/", "https://10.0.0.1:8443/",
    "https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://app.localhost/", "https://ⓛocalhost/",
  ])("%s leads to an address that is not public", (url) => expect(judge(url)).toMatchObject({ ok: false, sentence: expect.stringContaining("not public"), fix: expect.stringContaining("OUTBOUND_ALLOW") }));

  it.each(["", "hooks.example.com", "/hook", "https://", "https://[fe80::1%25eth0]/", "https://1.2.3.4.5/", "https://256.1.1.1/", "https://a b/", "https://x:99999/"])("%j is no URL", (url) => {
    expect(judge(url)).toMatchObject({ ok: false, sentence: expect.stringContaining("not a valid URL") });
  });

  it.each(["https://user@example.com/", "https://user:secret@example.com/", "https://:secret@example.com/"])("%s may hold no credentials", (url) => {
    expect(judge(url)).toMatchObject({ ok: false, sentence: expect.stringContaining("password") });
  });

  it.each(["ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "data:,x", "gopher://127.0.0.1/", "ws://example.com/"])("%s has a scheme that is never called", (url) => {
    expect(judge(url, { allowHttp: true })).toMatchObject({ ok: false, sentence: expect.stringContaining("must use https") });
  });

  it("with plain http is refused, naming the setting that allows it", () => {
    expect(judge("http://example.com/")).toMatchObject({ ok: false, fix: expect.stringContaining("WEBHOOK_ALLOW_HTTP=true") });
    expect(judge("http://example.com/", { allowHttp: true })).toEqual({ ok: true });
  });

  it("goes to ports that the operator opened, and to all when there is no such setting", () => {
    const ports: [number, number][] = [[443, 443], [8_000, 8_999]];
    for (const url of ["https://example.com/", "https://example.com:443/", "https://example.com:8000/", "https://example.com:8999/"]) expect(judge(url, { ports })).toEqual({ ok: true });
    for (const url of ["https://example.com:22/", "https://example.com:7999/", "https://example.com:9000/"]) {
      expect(judge(url, { ports })).toMatchObject({ ok: false, sentence: expect.stringContaining("is not open"), fix: expect.stringMatching(/443, 8000-8999.*OUTBOUND_PORTS/) });
      expect(judge(url)).toEqual({ ok: true });
    }
    expect(judge("http://example.com/", { ports, allowHttp: true }).ok).toBe(false);
  });

  it("to this machine passes when the operator allows it", () => {
    for (const url of ["https://localhost:8443/", "https://127.0.0.1/", "https://0x7f.1/", "https://[::ffff:127.0.0.1]/"]) expect(judge(url, { allow: ["127.0.0.0/8"] })).toEqual({ ok: true });
    expect(judge("https://localhost/", { allow: ["::1"] })).toEqual({ ok: true });
    expect(judge("https://[::1]/", { allow: ["127.0.0.0/8"] }).ok).toBe(false);
  });
});
