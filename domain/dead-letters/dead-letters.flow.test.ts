import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { inTransaction } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { discardDeadLetters } from "./discard-dead-letters.ts";
import {
  countDeadLetters,
  countOpenDeadLetters,
  findDeadLetterIds,
  listDeadLetters,
} from "./list-dead-letters.ts";
import { idOfDeadLetter, recordDeadLetters, type NewDeadLetter } from "./record-dead-letters.ts";

let postgres: Awaited<ReturnType<typeof freshDatabase>>;
const NOW = Date.parse("2026-03-01T00:00:00Z");

beforeAll(async () => {
  postgres = await freshDatabase();
});
beforeEach(async () => {
  await postgres.database.delete(deadLetters);
});
afterAll(() => postgres.drop());

const letter = (offset: number, of: Partial<NewDeadLetter> = {}): NewDeadLetter => ({
  consumerGroup: "errors",
  logId: "log",
  topic: "beacons",
  partition: 3,
  offset: BigInt(offset),
  entry: 0,
  reason: "it was refused",
  bytes: Buffer.from(`bytes ${offset}`),
  rowsStand: false,
  ...of,
});
const record = (letters: NewDeadLetter[]) =>
  inTransaction(postgres.database, (transaction) => recordDeadLetters(transaction, letters));

async function listed(limit: number): Promise<bigint[]> {
  const offsets: bigint[] = [];
  for await (const { offset } of listDeadLetters(postgres.database, {}, limit))
    offsets.push(offset);
  return offsets;
}

test("letters are recorded with their transaction, once, however many and whatever their reasons hold", async () => {
  const many = Array.from({ length: 1_500 }, (_, offset) => letter(offset));
  const undone = inTransaction(postgres.database, async (transaction) => {
    await recordDeadLetters(transaction, many);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  expect(await countDeadLetters(postgres.database, {})).toMatchObject({ open: 0 });
  await record([]);
  await record(many);
  await record([
    letter(0, { reason: "another" }),
    letter(0, {
      entry: -1,
      reason: `NUL \u0000 ${"x".repeat(3_000)}`,
      bytes: Buffer.from("xxall").subarray(2),
    }),
    ...many,
  ]);
  expect(await countDeadLetters(postgres.database, {})).toEqual({
    rows_stand: 0,
    open: 1_501,
    replayed: 0,
    discarded: 0,
  });
  const rows = await postgres.database
    .select()
    .from(deadLetters)
    .where(eq(deadLetters.offset, 0n))
    .orderBy(deadLetters.entry);
  expect(
    rows.map(({ reason, bytes }) => [reason.slice(0, 6), reason.length, bytes.toString()]),
  ).toEqual([
    ["NUL \uFFFD ", 2_000, "all"],
    ["it was", 14, "bytes 0"],
  ]);
});

test("letters are listed newest first across pages, found by the first digits of their ids, and counted while open", async () => {
  await record(
    Array.from({ length: 45 }, (_, offset) =>
      letter(offset, { createdAt: new Date(NOW + offset) }),
    ),
  );
  await record([
    letter(50, {
      topic: "metrics",
      consumerGroup: "samples",
      rowsStand: true,
      createdAt: new Date(NOW),
    }),
  ]);
  expect(await listed(3)).toEqual([44n, 43n, 42n]);
  expect(new Set(await listed(1_000)).size).toBe(46);
  const id = idOfDeadLetter(letter(7));
  for (const text of [id, id.slice(0, 8), id.toUpperCase().slice(0, 13)])
    expect(await findDeadLetterIds(postgres.database, text)).toEqual([id]);
  for (const text of [id.slice(0, 7), "", "1/7", `${id}0`])
    expect(await findDeadLetterIds(postgres.database, text)).toEqual([]);
  expect(
    (await countOpenDeadLetters(postgres.database)).toSorted((a, b) => b.letters - a.letters),
  ).toEqual([
    { topic: "beacons", group: "errors", letters: 45 },
    { topic: "metrics", group: "samples", letters: 1 },
  ]);
});

test("only open letters are discarded", async () => {
  await record([
    letter(1),
    letter(2),
    letter(3, { rowsStand: true }),
    letter(4, { topic: "metrics" }),
  ]);
  const { database } = postgres;
  expect(await discardDeadLetters(database, { id: idOfDeadLetter(letter(3)) }, NOW)).toBe(0);
  expect(await discardDeadLetters(database, { id: idOfDeadLetter(letter(1)) }, NOW)).toBe(1);
  expect(await discardDeadLetters(database, { topic: "beacons" }, NOW + 1)).toBe(1);
  expect(await countDeadLetters(database, {})).toEqual({
    rows_stand: 1,
    open: 1,
    replayed: 0,
    discarded: 2,
  });
});
