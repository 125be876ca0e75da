import { sql } from "drizzle-orm";
import { rowsOfBody } from "../domain/errors/rows-of-body.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { inTransaction, openDatabase } from "../platform/postgres/database.ts";
import { httpRequest } from "./edge-load.ts";
import { makeZipf } from "./zipf.ts";

/** Digits of a signature's number in the functions of its stack; as many for each, so that one can be written over another. */
const DIGITS = 7;
const MARK = Buffer.from(`Of${"0".repeat(DIGITS)}`);
const ROWS_AT_A_TIME = 5_000;
const SESSIONS = 2_000;

/** Eight frames whose functions name the signature: 0.7 KB. */
function errorOf(signature: number): { type: string; error_type: string; message: string; stack: string; url: string } {
  const digits = String(signature).padStart(DIGITS, "0");
  const frames = Array.from({ length: 8 }, (_, depth) => `    at step${depth}Of${digits} (https://shop.example/a-${depth}.js:${depth + 1}:17)`);
  return { type: "error", error_type: "TypeError", message: "cart has no entry", stack: `TypeError: cart has no entry\n${frames.join("\n")}`, url: "https://shop.example/checkout" };
}

interface KnownErrors {
  requests: Buffer[];
  /** For `load`: draws the signatures of a request anew, by Zipf's law. */
  change(request: Buffer, at: number): void;
}

/** Requests of ten errors each whose signatures are drawn anew whenever one is sent, so that all of a million can come. */
export function errorRequests({ beaconKey, events, requests, signatures }: { beaconKey: string; events: number; requests: number; signatures: number }): KnownErrors {
  const draw = makeZipf(signatures);
  const made = Array.from({ length: requests }, (_, number) =>
    httpRequest("/api/beacon", { "Content-Type": "application/json" }, JSON.stringify({ key: beaconKey, session_id: `s-${number % SESSIONS}`, release: "web@4.7.1", environment: "production", sdk: "pharos-js/1.0.0", events: Array.from({ length: events }, () => ({ event_id: newId(), ...errorOf(0) })) })),
  );
  const places = made.map(digitsIn);
  return {
    requests: made,
    change(request, at) {
      const own = places[at]!;
      const framesOfEvent = own.length / events;
      for (let event = 0; event < events; event++) {
        const digits = String(draw()).padStart(DIGITS, "0");
        for (let frame = 0; frame < framesOfEvent; frame++) request.write(digits, own[event * framesOfEvent + frame]!, "latin1");
      }
    },
  };
}

/** Where the numbers of signatures stand in a request. */
function digitsIn(request: Buffer): number[] {
  const places: number[] = [];
  for (let found = request.indexOf(MARK); found !== -1; found = request.indexOf(MARK, found + 1)) places.push(found + MARK.length - DIGITS);
  return places;
}

/**
 * Puts signatures into PostgreSQL as they are after a month in which each was seen: those that `errorRequests` draws for this
 * service. Their ids and texts are what a processor makes of such events.
 */
export async function makeKnownErrors(databaseUrl: string, { organizationId, serviceId, signatures }: { organizationId: string; serviceId: string; signatures: number }): Promise<void> {
  const database = openDatabase(databaseUrl, 1, makeLog("silent"));
  const now = Date.now();
  for (let from = 0; from < signatures; from += ROWS_AT_A_TIME) {
    const events = Array.from({ length: Math.min(ROWS_AT_A_TIME, signatures - from) }, (_, number) => errorOf(from + number));
    const rows = chunksOf(events, 100).flatMap((each) => rowsOf(each, organizationId, serviceId));
    const given = JSON.stringify(rows.map(({ signature_id: id, grouping_version: version, fingerprint, message, culprit, category, stack }, number) => ({ id, version, fingerprint, message, culprit, category, stack, seen: number })));
    await inTransaction(database, async (tx) => {
      await tx.execute(sql`set local statement_timeout = 0`);
      // Rows that are made by a benchmark concern no trigger, and their organization exists.
      await tx.execute(sql`set local session_replication_role = replica`);
      await tx.execute(sql`
        with given as materialized (select * from jsonb_to_recordset(${given}::jsonb) as each (id uuid, version text, fingerprint text, message text, culprit text, category error_category, stack text, seen int)),
        signature as (
          insert into error_signatures (id, organization_id, service_id, grouping_version, fingerprint, type, message, culprit, category, priority, handled, occurrences, first_seen, last_seen, release, environment)
          select id, ${organizationId}, ${serviceId}, version, fingerprint, 'TypeError', message, culprit, category, 'medium', false, 1, seen_at - interval '1 day', seen_at, 'web@4.7.0', 'production'
          from (select *, ${new Date(now).toISOString()}::timestamptz - seen * interval '500 seconds' as seen_at from given) as given
        ), stack as (
          insert into error_stacks (signature_id, organization_id, stack_trace, frames, grouping_parts) select id, ${organizationId}, stack, '[]', '[]' from given
        )
        insert into error_environments (organization_id, environment, signature_id) select ${organizationId}, 'production', id from given`);
    });
  }
  await database.execute(sql`vacuum analyze`);
  await database.$client.end();
}

/** As a processor reads a body. */
function rowsOf(events: object[], organizationId: string, serviceId: string) {
  const body = Buffer.from(JSON.stringify({ key: "bpk_of_a_benchmark", session_id: "s", release: "web@4.7.0", environment: "production", events }));
  const rows = rowsOfBody({ organizationId, serviceId, receivedAt: Date.now(), body }, { logId: "bench", partition: 0, offset: 0n, firstIndex: 0, edgeId: newId(), sequence: 0n, entryIndex: 0 });
  if (rows.length !== events.length) throw new Error(`A body of ${events.length} events gave ${rows.length} rows.`);
  return rows;
}

function chunksOf<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, chunk) => items.slice(chunk * size, (chunk + 1) * size));
}
