import type { PharosEvent } from "./event.ts";

/** What `init` takes; a script tag gives the texts and numbers among them as data attributes (`data-sample-rate`). */
export interface PharosOptions {
  /** The public beacon key, `bpk_…`. */
  key: string;
  /** Where Pharos is, such as `https://status.example`. A script tag needs none: it is where the script came from. */
  url?: string;
  /** As it was named when the source maps were uploaded. */
  release?: string;
  /** The service takes `production` when there is none. */
  environment?: string;
  /** On every event. */
  tags?: Record<string, Tag>;
  user?: PharosUser;
  /** The share of sessions that send anything, 0 to 1. A session sends all of its events or none. 1 when absent. */
  sampleRate?: number;
  /** Sees each event last: returns it, changed or not, or null to drop it. One that throws drops the event too, since its work may be to strip data. */
  beforeSend?: (event: PharosEvent) => PharosEvent | null;
  /** How many breadcrumbs an event carries, at most 100; 0 records none and leaves `fetch`, XHR and the history alone. 30 when absent. */
  breadcrumbs?: number;
  /** Calls of `console` become breadcrumbs. */
  console?: boolean;
  /** Images, scripts and styles that do not load are errors. */
  resources?: boolean;
  /** `false` measures no web vitals. */
  vitals?: boolean;
  /** URLs of the page and of requests keep their query. */
  queryStrings?: boolean;
  /** Sends nothing for a visitor whose browser says Do Not Track or Global Privacy Control. */
  respectDoNotTrack?: boolean;
}

export interface PharosUser {
  id?: string | number;
}

export type Tag = string | number | boolean | null;
