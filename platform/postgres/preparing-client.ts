import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { Client, type QueryResult } from "pg";

/** A statement is prepared once it was seen so often; parsing and planning cost more than running most of ours. */
const SEEN_OFTEN = 5;
/** So many are prepared on each connection: those made for a number of values (`in ($1, $2, …)`) could be without end. */
const MOST = 200;
/** Statements that are counted at a time. */
const COUNTED = 2_000;

/**
 * Part of every name. Where a session cannot read the names of its prepared statements, what one
 * request left in it cannot stand in for a statement of the next.
 */
const SECRET = randomBytes(16).toString("base64url");

const names = new Map<string, string>();
const seen = new Map<string, number>();

/** The name under which connections prepare a statement, or null while it is not worth a name. */
function nameOf(text: string): string | null {
  const name = names.get(text);
  if (name !== undefined) return name;
  if (names.size >= MOST) return null;
  const times = (seen.get(text) ?? 0) + 1;
  if (times < SEEN_OFTEN) {
    if (seen.size >= COUNTED) seen.clear();
    seen.set(text, times);
    return null;
  }
  seen.delete(text);
  const given = `pharos ${names.size} ${SECRET}`;
  names.set(text, given);
  return given;
}

interface Statement {
  text: string;
  values?: unknown[];
  name?: string | undefined;
  /** Never gets a name: nobody can have prepared another statement under it. */
  nameless?: true;
}

function isNameless(statement: unknown, values: unknown): statement is Statement {
  if (typeof statement !== "object" || statement === null || !("text" in statement) || "submit" in statement || "nameless" in statement) return false;
  return !("name" in statement && statement.name) && (Array.isArray(values) || ("values" in statement && Array.isArray(statement.values)));
}

/** What of pg's client its types leave out. */
interface Inner {
  pipeline: boolean;
  connection: { stream: Writable; parsedStatements: object; submittedNamedStatements: object };
}

/** What `discard all` does, as PostgreSQL documents it, without `deallocate all` and `discard plans`. */
const EMPTY_BUT_STATEMENTS =
  "close all; reset session authorization; reset all; unlisten *;" +
  " select pg_advisory_unlock_all(); discard temp; discard sequences";

const NOTHING = { command: "BEGIN", rowCount: null, oid: 0, fields: [], rows: [] } satisfies QueryResult;

/**
 * A connection that prepares the statements that come often, whoever wrote them. One that pipelines sends what is asked
 * of it in one go, in one system call, and lets `begin` travel with the statement after it instead of waiting for its answer.
 */
export const PreparingClient = class extends Client {
  #corked = false;

  override query(...[statement, values, ...rest]: unknown[]): never {
    const name = isNameless(statement, values) ? nameOf(statement.text) : null;
    const named = name === null ? statement : { ...(statement as Statement), name };
    if ((this as unknown as Inner).pipeline) this.#gather();
    const asked = (super.query as (...given: unknown[]) => unknown).call(this, named, values, ...rest) as Promise<unknown>;
    if (!(this as unknown as Inner).pipeline || !isBegin(statement) || !(asked instanceof Promise)) return asked as never;
    // When it fails its connection is lost, and so what follows fails too.
    asked.catch(() => undefined);
    return Promise.resolve(NOTHING) as never;
  }

  /**
   * Gives the session back as it began: settings, role, locks, cursors, and whom it listens to.
   * `keepStatements` leaves the prepared ones, which costs a third: nothing is parsed and planned
   * again. Nothing of the session may be on its way.
   */
  empty({ keepStatements }: { keepStatements: boolean }): Promise<unknown> {
    if (keepStatements) return this.query(EMPTY_BUT_STATEMENTS) as Promise<unknown>;
    Object.assign((this as unknown as Inner).connection, { parsedStatements: {}, submittedNamedStatements: {} });
    return this.query("discard all") as Promise<unknown>;
  }

  /** Holds back what is written until the promises that are settled now had their say. */
  #gather(): void {
    if (this.#corked) return;
    const { stream } = (this as unknown as Inner).connection;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }
};

function isBegin(statement: unknown): boolean {
  return typeof statement === "object" && statement !== null && "text" in statement && statement.text === "begin";
}
