import { randomFillSync } from "node:crypto";
import { expect, test } from "vitest";
import { makeSeenGenerations, SLOT_MS } from "./generations.ts";

const HOUR = 60 * 60_000;
const SECOND = 1_000;
const noon = Date.UTC(2026, 0, 1, 12);
const MIB = 2 ** 20;

/** A filter whose clock stands at the newest moment that was added, and a counter for hashes. */
function start({ left = 64 * MIB, clock = Number.POSITIVE_INFINITY } = {}) {
  const budget = { left };
  const state = { now: clock };
  const filter = makeSeenGenerations(budget, () => state.now);
  const addMany = (count: number, receivedAt: number): Uint32Array => {
    const hashes = randomFillSync(new Uint32Array(2 * count));
    for (let at = 0; at < hashes.length; at += 2) filter.add(hashes[at]!, hashes[at + 1]!, receivedAt);
    return hashes;
  };
  const perhaps = (hashes: Uint32Array): number => {
    let found = 0;
    for (let at = 0; at < hashes.length; at += 2) if (filter.mayContain(hashes[at]!, hashes[at + 1]!)) found += 1;
    return found;
  };
  return { filter, budget, state, addMany, perhaps };
}

test("ids are found for an hour, also by those that come half a minute late, and forgotten then", () => {
  const { filter, addMany, perhaps } = start();
  const ids = addMany(1_000, noon);
  addMany(1, noon + HOUR - 1);
  expect(perhaps(ids)).toBe(1_000);
  expect(filter.covers(noon + HOUR - 1)).toBe(true);
  addMany(1, noon + HOUR + SLOT_MS + 29 * SECOND);
  expect(perhaps(ids)).toBe(1_000);
  expect(filter.covers(noon + HOUR + SLOT_MS - SECOND)).toBe(true);
  addMany(1, noon + HOUR + SLOT_MS + 31 * SECOND);
  expect(perhaps(ids)).toBeLessThan(10);
  expect(filter.covers(noon + HOUR + SLOT_MS - SECOND)).toBe(false);
});

test("an id that is too old takes no memory, and is not covered", () => {
  const { filter, budget, addMany } = start();
  addMany(1, noon);
  const { left } = budget;
  addMany(10_000, noon - 3 * HOUR);
  expect(budget.left).toBe(left);
  expect(filter.covers(noon - 3 * HOUR)).toBe(false);
  expect(filter.covers(noon)).toBe(true);
});

test("ids of an edge whose clock is ahead count as of now, and push nothing out", () => {
  const { filter, state, addMany, perhaps } = start({ clock: noon });
  const ids = addMany(1_000, noon - 50 * 60 * SECOND);
  const ahead = addMany(1_000, noon + 24 * HOUR);
  expect(perhaps(ids)).toBe(1_000);
  expect(perhaps(ahead)).toBe(1_000);
  expect(filter.covers(noon)).toBe(true);
  expect(filter.covers(noon + 24 * HOUR)).toBe(true);
  state.now = noon + 59 * 60 * SECOND;
  addMany(1, state.now);
  expect(perhaps(ahead)).toBe(1_000);
});

test("a processor that is hours behind keeps the hour that it is in", () => {
  const { filter, addMany, perhaps } = start({ clock: noon });
  const ids = addMany(1_000, noon - 6 * HOUR);
  addMany(1, noon - 6 * HOUR + 59 * 60 * SECOND);
  expect(perhaps(ids)).toBe(1_000);
  expect(filter.covers(noon - 6 * HOUR + 59 * 60 * SECOND)).toBe(true);
});

test("a generation has room for a quarter more than the one before, and grows by as much as it has", () => {
  const { filter, addMany, perhaps } = start();
  addMany(100_000, noon);
  const first = filter.size().bytes;
  addMany(1, noon + SLOT_MS);
  const second = filter.size().bytes - first;
  expect(second / 100_000).toBeGreaterThan(1.25 * 3.15);
  expect(second / 100_000).toBeLessThan(1.25 * 3.3);
  const many = addMany(600_000, noon + SLOT_MS);
  expect(perhaps(many)).toBe(600_000);
  expect(filter.size().bytes - first).toBe(8 * second);
});

test("no more memory is taken than the budget; then every answer is perhaps, until the generation is over", () => {
  const { filter, budget, addMany, perhaps } = start({ left: MIB });
  const ids = addMany(2_000_000, noon);
  expect(budget.left).toBeGreaterThanOrEqual(0);
  expect(filter.size().bytes).toBeLessThanOrEqual(MIB);
  expect(perhaps(ids)).toBe(2_000_000);
  addMany(1, noon + 2 * HOUR);
  expect(perhaps(ids)).toBeLessThan(1_000);
  filter.clear();
  expect(budget.left).toBe(MIB);
});

test("four full generations give about two false answers in a million", () => {
  const { filter, addMany, perhaps } = start();
  for (let slot = 0; slot < 4; slot++) {
    filter.expect(noon + slot * SLOT_MS, 250_000);
    addMany(250_000, noon + slot * SLOT_MS);
  }
  const wrong = perhaps(randomFillSync(new Uint32Array(2_000_000)));
  // 1.7 are expected: twelve are as good as impossible.
  expect(wrong).toBeLessThan(12);
  expect(filter.size().bytes / filter.size().ids).toBeLessThan(3.26);
});
