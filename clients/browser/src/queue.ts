import { attempt } from "./attempt.ts";
import { DAY_MS, LEASE_MS, MOST_BODY_BYTES, MOST_WAITING, MOST_WAITING_CHARACTERS, REMEMBERED_MS } from "./limits.ts";
import { options } from "./page.ts";
import { uuid } from "./uuid.ts";

/** An event that waits for its answer, as it is stored too. */
export interface Waiting {
  /** JSON. The session in it decides where the service looks for an id that it has seen, so a retry must not change it. */
  envelope: string;
  /** JSON. */
  event: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Since when it may have arrived without our knowing; 0 while it surely has not. */
  sent: number;
  vital: boolean;
}

/** `[until, ...events]`: until then they belong to the page that wrote them; 0 when it has gone. Without events it says that they were taken over. */
type Stored = [until: number, ...events: Waiting[]];

let waiting: Waiting[] = [];

/** This page's name in localStorage: events wait in memory and, where the browser allows it, there. */
let place = "";
/** Whether the page may never run again: then whoever comes next may take its events. */
let gone = false;
/** Whether the browser took what was written last. */
let written: unknown;

/** All pages of the site that have the same beacon key. */
const prefix = () => `pharos:${options!.key}:`;

export function openQueue(): void {
  place = prefix() + uuid();
  waiting = [];
  gone = false;
}

export function setGone(isGone: boolean): void {
  gone = isGone;
}

function read(name: string): Stored {
  return attempt(() => JSON.parse(localStorage.getItem(name)!) as Stored) ?? [0];
}

function write(name: string, stored: Stored | number[] | null): void {
  // Refused or full: then they wait as long as the page lives.
  written = attempt(() => (stored ? localStorage.setItem(name, JSON.stringify(stored)) : localStorage.removeItem(name), 1));
}

/** Writes what waits, without the oldest where it is too much. */
export function store(): void {
  while (waiting.length > MOST_WAITING || waiting.reduce((sum, { event }) => sum + event.length, 0) > MOST_WAITING_CHARACTERS) waiting.shift();
  write(place, waiting.length ? [gone ? 0 : Date.now() + LEASE_MS, ...waiting] : null);
}

export function add(event: Waiting): void {
  leaveOld();
  waiting.push(event);
  store();
}

export function remove(events: Waiting[]): void {
  waiting = waiting.filter((event) => !events.includes(event));
}

/** Events that fit one body, oldest first; of all, or of those that were never given out of hand. */
export function batch(unsentOnly?: boolean): Waiting[] {
  leaveOld();
  const offered = waiting.filter(({ sent }) => !(unsentOnly && sent));
  let bytes = 0;
  return offered.filter(({ envelope, event }, at) => envelope === offered[0]!.envelope && ((bytes += new Blob([event]).size) < MOST_BODY_BYTES || !at));
}

function leaveOld(): void {
  const now = Date.now();
  // Taken over, while this page was frozen. Looked at without being parsed, for it is done with every event.
  if (/^.\d+.$/.test(attempt(() => localStorage.getItem(place))!)) waiting = [];
  waiting = waiting.filter(({ at, sent }) => now - at < DAY_MS && !(sent && now - sent > REMEMBERED_MS));
}

/** Takes over what pages have left that are gone. */
export function adopt(): void {
  const now = Date.now();
  for (const name of Object.keys(localStorage)) {
    if (!name.startsWith(prefix()) || name === place) continue;
    const [until, ...theirs] = read(name);
    if (until > now) continue;
    waiting.push(...theirs);
    write(name, until && theirs.length ? [now + DAY_MS] : null);
  }
  store();
}

/** After the page was put aside and has come back: others may have taken what it left. */
export function comeBack(): void {
  if (written) waiting = read(place).slice(1) as Waiting[];
}

