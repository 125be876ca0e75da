import { expect, test } from "vitest";
import { murmur2Partition } from "./partition.ts";

// Hashes from Kafka's own UtilsTest (testMurmur2), sign bit cleared: a partition count above them leaves them whole.
test.each([
  ["21", -973932308],
  ["foobar", -790332482],
  ["a-little-bit-long-string", -985981536],
  ["a-little-bit-longer-string", -1486304829],
  ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
  ["abc", 479470107],
  // Not in that test; by kafkajs' murmur2.
  ["", 275646681],
  ["Zürich", -1551140815],
])("%s hashes as in Kafka", (key, hash) => {
  expect(murmur2Partition(key, 0x7fff_ffff)).toBe((hash & 0x7fff_ffff) % 0x7fff_ffff);
});

test("a text's UTF-8 bytes count, whatever was hashed before it", () => {
  const long = "é".repeat(100);
  const first = [long, "Zürich", "abc"].map((key) => murmur2Partition(key, 0x7fff_ffff));
  const second = ["abc", "Zürich", long].map((key) => murmur2Partition(key, 0x7fff_ffff)).toReversed();
  expect(second).toEqual(first);
});
