import { expect, it } from "vitest";
import { normaliseRange } from "./address-range.ts";

it.each([
  ["203.0.113.7", "203.0.113.7/32"],
  [" 203.0.113.7/24 ", "203.0.113.0/24"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["255.255.255.255/1", "128.0.0.0/1"],
  ["2001:DB8:0:0::1/32", "2001:db8::/32"],
  ["2001:db8::1", "2001:db8::1/128"],
  ["::/0", "::/0"],
  ["::ffff:1.2.3.4", "1.2.3.4/32"],
  ["::ffff:1.2.3.4/120", "1.2.3.0/24"],
  ["::1.2.3.4", "::102:304/128"],
])("%j is kept as %j", (text, kept) => expect(normaliseRange(text)).toBe(kept));

it.each(["", "10", "10.1/16", "0x7f.0.0.1", "010.0.0.1", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/08", "1.2.3.4/", "::1/129", "fe80::1%eth0", "example.com", "1.2.3.4/24/8", ":::"])("%j is neither address nor range", (text) =>
  expect(normaliseRange(text)).toBeNull(),
);
