import { describe, expect, test } from "vitest";
import { crc32c } from "./crc32c.ts";

// RFC 3720, appendix B.4; the last is the check value of the catalogue of CRC algorithms.
test.each([
  ["32 bytes of zero", Buffer.alloc(32), 0x8a91_36aa],
  ["32 bytes of ones", Buffer.alloc(32, 0xff), 0x62a8_ab43],
  ["0 to 31", Buffer.from(Array.from({ length: 32 }, (_, at) => at)), 0x46dd_794e],
  ["31 to 0", Buffer.from(Array.from({ length: 32 }, (_, at) => 31 - at)), 0x113f_db5c],
  ["123456789", Buffer.from("123456789"), 0xe306_9283],
  ["nothing", Buffer.alloc(0), 0],
])("%s", (_name, bytes, sum) => {
  expect(crc32c(bytes)).toBe(sum);
});

describe("any place in memory and any division into parts give the same sum", () => {
  const whole = Buffer.from(Array.from({ length: 203 }, (_, at) => (at * 37) & 0xff));
  const sum = crc32c(whole);

  test.each([0, 1, 2, 3, 4, 5, 15, 16, 17])("%i bytes into a shared buffer", (offset) => {
    const shared = Buffer.alloc(offset + whole.byteLength);
    whole.copy(shared, offset);
    expect(crc32c(shared.subarray(offset))).toBe(sum);
  });

  test.each([0, 1, 3, 16, 100, 202, 203])("in two at %i", (cut) => {
    expect(crc32c(whole.subarray(cut), crc32c(whole.subarray(0, cut)))).toBe(sum);
  });
});
