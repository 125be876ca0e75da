import { randomFillSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeCuckooFilter, type CuckooFilter } from "./cuckoo-filter.ts";

const randomHashes = (count: number): Uint32Array => randomFillSync(new Uint32Array(2 * count));

function addAll(filter: CuckooFilter, hashes: Uint32Array): void {
  for (let at = 0; at < hashes.length; at += 2) filter.add(hashes[at]!, hashes[at + 1]!);
}

function countPerhaps(filter: CuckooFilter, hashes: Uint32Array): number {
  let perhaps = 0;
  for (let at = 0; at < hashes.length; at += 2) if (filter.mayContain(hashes[at]!, hashes[at + 1]!)) perhaps += 1;
  return perhaps;
}

describe("a full filter", () => {
  const filter = makeCuckooFilter(3_000_000);
  const added = randomHashes(3_000_000);
  addAll(filter, added);

  test("says perhaps to each of millions of hashes that were added", () => {
    expect(countPerhaps(filter, added)).toBe(3_000_000);
  });

  test("says perhaps to less than one in a million others", () => {
    // 0.9 are expected: eight are as good as impossible.
    expect(countPerhaps(filter, randomHashes(2_000_000))).toBeLessThan(8);
  });

  test("takes 3.24 bytes for each", () => {
    expect(filter.bytes / 3_000_000).toBeLessThan(3.24);
    expect(filter.size()).toBeGreaterThan(2_999_000);
  });

  test("takes no room for hashes that it holds already", () => {
    const before = filter.size();
    addAll(filter, added);
    expect(filter.size()).toBe(before);
  });
});

test.each([1, 2, 3, 5, 7, 100, 1_021, 4_096, 65_537])("misses nothing with room for %i, nor with four times as many hashes", (ids) => {
  const filter = makeCuckooFilter(ids);
  const added = randomHashes(4 * ids);
  addAll(filter, added);
  expect(countPerhaps(filter, added)).toBe(4 * ids);
});

test("hashes that were made to fall into one bucket are all found, in the same memory, and harm few others", () => {
  const filter = makeCuckooFilter(100_000);
  const honest = randomHashes(50_000);
  addAll(filter, honest);
  const hostile = randomHashes(200_000);
  for (let at = 1; at < hostile.length; at += 2) hostile[at] = 0x80000000;
  const before = filter.bytes;
  addAll(filter, hostile);
  expect(filter.bytes).toBe(before);
  expect(countPerhaps(filter, hostile)).toBe(200_000);
  expect(countPerhaps(filter, honest)).toBe(50_000);
  expect(countPerhaps(filter, randomHashes(100_000)) / 100_000).toBeLessThan(0.0005);
});

test("hashes with few tags in few buckets, ten times more than fit, are all found", () => {
  const filter = makeCuckooFilter(10_000);
  const hostile = randomHashes(100_000);
  for (let at = 0; at < hostile.length; at += 2) {
    hostile[at] = (hostile[at]! % 20) * 0xccc;
    hostile[at + 1] = (hostile[at + 1]! % 500) * 8_000_000;
  }
  addAll(filter, hostile);
  expect(countPerhaps(filter, hostile)).toBe(100_000);
});
