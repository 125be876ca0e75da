import { entriesOf, readDeadLetter, readDeadLetters, type DeadLetter } from "../../domain/dead-letters/read.ts";
import { replayAllDeadLetters, replayDeadLetter } from "../../domain/dead-letters/replay.ts";
import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { withEventLog } from "./with-event-log.ts";

const REASON_LENGTH = 100;
const PROGRESS_EVERY_MS = 1_000;

/** `dead-letter list`: a table, or with `json` a line of JSON for each; newest first. */
export async function listDeadLettersCommand(config: Config, { limit, json }: { limit: number; json: boolean }): Promise<number> {
  const letters = await withEventLog(config, (eventLog) => readDeadLetters(eventLog));
  const newest = letters.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0)).slice(0, limit);
  if (json) for (const letter of newest) console.log(JSON.stringify(asJson(letter)));
  else {
    if (newest.length > 0) printTable([["ID", "WHEN", "TOPIC", "PARTITION", "OFFSET", "GROUP", "ORGANIZATION", "BYTES", "REPLAYED", "REASON"], ...newest.map(rowOf)]);
    console.log(letters.length === 0 ? "There are no dead letters." : `${newest.length} of ${letters.length} dead letters.`);
  }
  return 0;
}

/** `dead-letter show ID`: what is known of one, then each entry's bytes, as text where they are text, else in base64. */
export async function showDeadLetterCommand(config: Config, { id, json }: { id: string; json: boolean }): Promise<number> {
  const { letter, bytes } = await withEventLog(config, (eventLog) => found(readDeadLetter(eventLog, id), id));
  const entries = (entriesOf(bytes) ?? []).map(({ organizationId, subjectId, receivedAt, body }) => ({ organization_id: organizationId, subject_id: subjectId, received_at: new Date(receivedAt).toISOString(), body: textOf(body) }));
  if (json) {
    console.log(JSON.stringify({ ...asJson(letter), entries, ...(entries.length === 0 && { base64: bytes.toString("base64") }) }));
    return 0;
  }
  for (const [name, value] of Object.entries(asJson(letter))) console.log(`${name.padEnd(16)} ${Array.isArray(value) ? value.join(", ") : String(value)}`);
  if (entries.length === 0) console.log(`\nThese bytes hold no entry that can be read, in base64:\n${bytes.toString("base64")}`);
  for (const { body, ...entry } of entries) {
    const facts = Object.entries(entry).map(([name, value]) => `${name} ${value}`);
    console.log(`\n${"text" in body ? facts.join(", ") : [...facts, "in base64"].join(", ")}\n${"text" in body ? body.text : body.base64}`);
  }
  return 0;
}

/** `dead-letter replay ID|--all`: 0 when everything asked for was put back or had been before; 1 when one cannot be. */
export async function replayDeadLettersCommand(config: Config, { id, again, json }: { id: string | null; again: boolean; json: boolean }): Promise<number> {
  return id === null ? replayAll(config, { again, json }) : replayOne(config, { id, again, json });
}

async function replayOne(config: Config, { id, again, json }: { id: string; again: boolean; json: boolean }): Promise<number> {
  const { outcome, letter } = await withEventLog(config, async (eventLog) => {
    const one = await found(readDeadLetter(eventLog, id), id);
    return { letter: one.letter, outcome: await replayDeadLetter(eventLog, one, { again, now: Date.now() }) };
  });
  if (outcome === "replayed before") throw new Failure("CONFLICT", `Dead letter ${id} was replayed before. With --again it is put back once more, and counts once more.`);
  if (outcome === "unreadable") throw new Failure("INVALID_REQUEST", `Dead letter ${id} cannot be replayed: its bytes are no whole frame. \`dead-letter show ${id}\` prints them.`);
  if (json) console.log(JSON.stringify({ replayed: 1 }));
  else console.log(`Dead letter ${id} was put back into ${letter.head.topic}. If it still cannot be processed it comes back here as a new one.`);
  return 0;
}

async function replayAll(config: Config, { again, json }: { again: boolean; json: boolean }): Promise<number> {
  let told = performance.now();
  const onProgress = (done: number, of: number): void => {
    if (performance.now() - told < PROGRESS_EVERY_MS) return;
    told = performance.now();
    console.error(`${done} of ${of} …`);
  };
  const counts = await withEventLog(config, (eventLog) => replayAllDeadLetters(eventLog, { again, now: Date.now(), onProgress }));
  if (json) console.log(JSON.stringify({ replayed: counts.replayed, replayed_before: counts["replayed before"], unreadable: counts.unreadable }));
  else console.log(`${counts.replayed} put back, ${counts["replayed before"]} passed over because they were replayed before, ${counts.unreadable} are no whole frame and stay.`);
  return counts.unreadable > 0 ? 1 : 0;
}

async function found<T>(reading: Promise<T | null>, id: string): Promise<T> {
  const value = await reading;
  if (value === null) throw new Failure("NOT_FOUND", `There is no dead letter ${id}. \`dead-letter list\` names those that there are.`);
  return value;
}

function asJson({ id, head, at, organizationIds, bytes, replays }: DeadLetter) {
  const when = at === null ? null : new Date(at).toISOString();
  return { id, at: when, topic: head.topic, partition: head.partition, offset: head.offset, group: head.group, organization_ids: organizationIds, bytes, replays, reason: head.reason };
}

function rowOf({ id, head, at, organizationIds, bytes, replays }: DeadLetter): string[] {
  const organization = organizationIds.length > 1 ? `${organizationIds.length} of them` : (organizationIds[0] ?? "-");
  const reason = head.reason.replaceAll(/\s+/g, " ");
  const cut = reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH - 1)}…` : reason;
  return [id, at === null ? "-" : new Date(at).toISOString(), head.topic, String(head.partition), head.offset, head.group, organization, String(bytes), replays === 0 ? "-" : String(replays), cut];
}

function printTable(rows: string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd());
}

function textOf(body: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(body) };
  } catch {
    return { base64: Buffer.from(body).toString("base64") };
  }
}
