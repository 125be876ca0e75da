import {
  countDeadLetters,
  entriesOf,
  findDeadLetterIds,
  listDeadLetters,
  readDeadLetter,
  type DeadLetter,
  type DeadLetterFilter,
} from "../../domain/dead-letters/list-dead-letters.ts";
import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { DEAD_LETTER_STATES } from "../../schemas/vocabulary.ts";
import { withDatabase } from "./with-database.ts";

const REASON_LENGTH = 100;
const HEADINGS = [
  "ID",
  "WHEN",
  "STATE",
  "TOPIC",
  "PARTITION",
  "OFFSET",
  "ENTRY",
  "GROUP",
  "ORGANIZATION",
  "BYTES",
  "REPLAYED",
  "REASON",
];

interface ListOptions {
  filter: DeadLetterFilter;
  limit: number;
  json: boolean;
}

/**
 * `dead-letter list`: a table and a count by state, or with `json` a line of JSON for each; newest
 * first.
 */
export async function listDeadLettersCommand(
  config: Config,
  { filter, limit, json }: ListOptions,
): Promise<number> {
  return withDatabase(config, async (database) => {
    const rows: string[][] = [];
    for await (const letter of listDeadLetters(database, filter, limit)) {
      if (json) console.log(JSON.stringify(asJson(letter)));
      else rows.push(rowOf(letter));
    }
    if (json) return 0;
    if (rows.length > 0) printTable([HEADINGS, ...rows]);
    console.log(summaryOf(rows.length, await countDeadLetters(database, filter), filter));
    return 0;
  });
}

function summaryOf(
  shown: number,
  counts: Awaited<ReturnType<typeof countDeadLetters>>,
  filter: DeadLetterFilter,
): string {
  const states = DEAD_LETTER_STATES.filter((state) => counts[state] > 0);
  const all = states.reduce((sum, state) => sum + counts[state], 0);
  const filtered = Object.values(filter).some((value) => value !== undefined);
  if (all === 0) return `There are no dead letters${filtered ? " like that" : ""}.`;
  return `${shown} of ${all} dead letters: ${states.map((state) => `${counts[state]} ${wordsOf(state)}`).join(", ")}.`;
}

/**
 * `dead-letter show ID`: what is known of one, then each entry's bytes, as text where they are
 * text, else in base64.
 */
export async function showDeadLetterCommand(
  config: Config,
  { id, json }: { id: string; json: boolean },
): Promise<number> {
  const letter = await withDatabase(config, (database) => namedLetter(database, id));
  const entries = (entriesOf(letter.bytes) ?? []).map(
    ({ organizationId, subjectId, receivedAt, body }) => ({
      organization_id: organizationId,
      subject_id: subjectId,
      received_at: new Date(receivedAt).toISOString(),
      body: textOf(body),
    }),
  );
  if (json) {
    console.log(
      JSON.stringify({
        ...asJson(letter),
        entries,
        ...(entries.length === 0 && { base64: letter.bytes.toString("base64") }),
      }),
    );
    return 0;
  }
  for (const [name, value] of Object.entries(asJson(letter)))
    console.log(
      `${name.padEnd(16)} ${Array.isArray(value) ? value.join(", ") : String(value ?? "-")}`,
    );
  if (entries.length === 0)
    console.log(
      `\nThese bytes hold no entry that can be read, in base64:\n${letter.bytes.toString("base64")}`,
    );
  for (const { body, ...entry } of entries) {
    const facts = Object.entries(entry).map(([name, value]) => `${name} ${value}`);
    console.log(
      `\n${"text" in body ? facts.join(", ") : [...facts, "in base64"].join(", ")}\n${"text" in body ? body.text : body.base64}`,
    );
  }
  return 0;
}

/**
 * The letter that an id, or the first eight digits of one, names. Throws a Failure when there is
 * none or more than one.
 */
export async function namedLetter(database: Database, text: string): Promise<DeadLetter> {
  const ids = await findDeadLetterIds(database, text);
  if (ids.length > 1)
    throw new Failure("CONFLICT", `${text} names several dead letters: ${ids.join(", ")}.`);
  const letter = ids.length === 0 ? null : await readDeadLetter(database, ids[0]!);
  if (letter === null)
    throw new Failure(
      "NOT_FOUND",
      `There is no dead letter ${text}. \`dead-letter list\` names those that there are.`,
    );
  return letter;
}

/** An id as the list shows it. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

function organizationsOf({ bytes }: DeadLetter): string[] {
  return [...new Set((entriesOf(bytes) ?? []).map(({ organizationId }) => organizationId))];
}

function asJson(letter: DeadLetter) {
  const {
    id,
    createdAt,
    state,
    answeredAt,
    topic,
    partition,
    offset,
    entry,
    consumerGroup,
    logId,
    bytes,
    replays,
    reason,
  } = letter;
  return {
    id,
    at: createdAt.toISOString(),
    state,
    answered_at: answeredAt?.toISOString() ?? null,
    topic,
    partition,
    offset: String(offset),
    entry: entry === WHOLE_RECORD ? null : entry,
    group: consumerGroup,
    log_id: logId,
    organization_ids: organizationsOf(letter),
    bytes: bytes.byteLength,
    replays,
    reason,
  };
}

function rowOf(letter: DeadLetter): string[] {
  const { id, createdAt, state, topic, partition, offset, entry, consumerGroup, bytes, replays } =
    letter;
  const organizations = organizationsOf(letter);
  const organization =
    organizations.length > 1 ? `${organizations.length} of them` : (organizations[0] ?? "-");
  const reason = letter.reason.replaceAll(/\s+/g, " ");
  const cut = reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH - 1)}…` : reason;
  const place = [
    topic,
    String(partition),
    String(offset),
    entry === WHOLE_RECORD ? "all" : String(entry),
  ];
  return [
    shortId(id),
    createdAt.toISOString(),
    wordsOf(state),
    ...place,
    consumerGroup,
    organization,
    String(bytes.byteLength),
    replays === 0 ? "-" : String(replays),
    cut,
  ];
}

function wordsOf(state: DeadLetter["state"]): string {
  return state.replaceAll("_", " ");
}

function printTable(rows: string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}

function textOf(body: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(body) };
  } catch {
    return { base64: Buffer.from(body).toString("base64") };
  }
}
