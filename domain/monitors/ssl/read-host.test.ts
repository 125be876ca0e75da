import { expect, test } from "vitest";
import { readHost } from "./read-host.ts";

test.each([
  ["shop.example.com", "shop.example.com"],
  [" Shop.Example.COM. ", "shop.example.com"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
  ["localhost", "localhost"],
  ["my_host.example.com", "my_host.example.com"],
  ["192.0.2.1", "192.0.2.1"],
  ["2001:DB8::1", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
])("%s is %s", (given, host) => {
  expect(readHost(given)).toBe(host);
});

test.each([
  ["https://shop.example.com", /without protocol/, 'Write "shop.example.com".'],
  ["https://shop.example.com:8443/path", /without protocol/, 'Write "shop.example.com".'],
  ["shop.example.com/path", /without path or user/, 'Write "shop.example.com".'],
  ["me@shop.example.com", /without path or user/, 'Write "shop.example.com".'],
  ["shop.example.com:8443", /without port/, 'Write "shop.example.com", and the port in its own field: "port": 8443.'],
  ["*.example.com", /not a host name/, /such as/],
  ["shop..example.com", /not a host name/, /such as/],
  ["-shop.example.com", /not a host name/, /such as/],
  ["shop example.com", /not a host name/, /such as/],
  ["0x7f.1", /not a host name/, /such as/],
  ["127.1", /not a host name/, /such as/],
  ["2130706433", /not a host name/, /such as/],
  ["a".repeat(64), /not a host name/, /such as/],
  [`${"a.".repeat(127)}aa`, /not a host name/, /such as/],
  ["", /not a host name/, /such as/],
  [".", /not a host name/, /such as/],
])("%s is refused", (given, sentence, fix) => {
  expect(() => readHost(given)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST", message: expect.stringMatching(sentence) as string, details: { path: "/domain", fix: expect.stringMatching(fix) as string } }) as Error);
});
