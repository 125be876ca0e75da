import type { Tag } from "./options.ts";

/** An event as `beforeSend` sees it and as it is sent. */
export interface PharosEvent {
  /** A retry has the same, by which the service counts the event once. */
  event_id: string;
  type: "error" | "message" | "vital";
  /** Milliseconds since the epoch. */
  timestamp: number;
  /** Of the page, without its query and fragment unless they were asked for. */
  url: string;
  message?: string;
  error_type?: string;
  stack?: string;
  causes?: ErrorFacts[];
  /** False when nothing in the page caught it. */
  handled?: boolean;
  level?: string;
  fingerprint?: string[];
  tags?: Record<string, Tag>;
  breadcrumbs?: Breadcrumb[];
  /** Script URL → debug id, of the scripts in the stacks. */
  debug_ids?: Record<string, string>;
  /** Vitals only: LCP, CLS, INP, FCP, TTFB. */
  name?: string;
  /** Vitals only: milliseconds, for CLS a score. */
  value?: number;
}

export interface ErrorFacts {
  error_type: string;
  message: string;
  stack?: string;
}

export interface Breadcrumb {
  /** Milliseconds since the epoch; now when absent. */
  timestamp?: number;
  /** click, navigation, fetch, xhr, console, or one of your own. */
  category?: string;
  message?: string;
  /** Anything that JSON can hold. Left out when the breadcrumb is longer than 1,000 characters with it. */
  data?: unknown;
}

/** What a caller can say about an error or a message. */
export interface CaptureDetails {
  tags?: Record<string, Tag>;
  /** Replaces the grouping; `{{default}}` stands for what it would have been. */
  fingerprint?: string[];
  level?: string;
  /** True when absent. */
  handled?: boolean;
}
