import { expect, test } from "vitest";
import { ROLES } from "../schemas/vocabulary.ts";
import { chooseEdgeThreads, ownMachine } from "./choose-edge-threads.ts";

const GIB = 1024 ** 3;

test.each([
  { cores: 1, memory: 64 * GIB, threads: 0 },
  { cores: 2, memory: 64 * GIB, threads: 0 },
  { cores: 4, memory: 2 * GIB, threads: 0 },
  { cores: 4, memory: 8 * GIB, threads: 1 },
  { cores: 64, memory: 256 * GIB, threads: 1 },
])("all roles on $cores cores with $memory bytes: $threads", ({ cores, memory, threads }) => {
  expect(chooseEdgeThreads({ roles: ROLES, cores, memory })).toBe(threads);
});

test("an edge by itself needs no thread", () => {
  expect(chooseEdgeThreads({ roles: ["edge"], cores: 64, memory: 64 * GIB })).toBe(0);
});

test("the machine has at least a core and some memory", () => {
  const { cores, memory } = ownMachine();
  expect(cores).toBeGreaterThan(0);
  expect(memory).toBeGreaterThan(GIB / 8);
});
