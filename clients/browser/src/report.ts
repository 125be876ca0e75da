import { breadcrumbs } from "./breadcrumbs.ts";
import { debugIdsFor } from "./debug-ids.ts";
import type { CaptureDetails, PharosEvent } from "./event.ts";
import { LONGEST_EVENT, LONGEST_STACK } from "./limits.ts";
import { causesOf, normaliseError } from "./normalise-error.ts";
import { options, shown } from "./page.ts";
import { add } from "./queue.ts";
import { sessionId } from "./session.ts";
import { admit, isMinuteFull } from "./suppress.ts";
import { schedule } from "./transport.ts";
import { uuid } from "./uuid.ts";

/** Written in when it is bundled. */
declare const SDK_VERSION: string;

/** What is known of an event before it is reported. */
export type Facts = Pick<PharosEvent, "type"> & Partial<PharosEvent>;

/** What is told of a thrown value; `type` names what is no error. */
export function factsOf(thrown: unknown, type: string, details?: CaptureDetails): Facts {
  return { handled: true, ...details, type: "error", ...normaliseError(thrown, type), causes: causesOf(thrown) };
}

/** Reports unless there were too many. Returns the event's id when it is sent. */
export function reportSome(read: () => Facts): string | undefined {
  if (isMinuteFull()) return undefined;
  const facts = read();
  const { error_type: type, message, stack = "" } = facts;
  const suppressed = admit(type + message! + stack.slice(0, message!.length + 300));
  if (suppressed === null) return undefined;
  return report({ breadcrumbs: [...breadcrumbs], debug_ids: debugIdsFor(JSON.stringify(facts)), ...facts, tags: { ...facts.tags, suppressed: suppressed || null } });
}

/** Into the queue, and soon to the service. Returns the event's id when it is sent. A `beforeSend` that throws, whose work may be to strip data, drops the event. */
export function report(facts: Facts): string | undefined {
  const { key, release, environment, user, tags, sampleRate = 1, beforeSend = (event) => event } = options!;
  const session = sessionId();
  // It follows from the session alone, which is so reported whole or not at all.
  if (parseInt(session, 16) / 2 ** 32 >= sampleRate) return undefined;
  const at = Date.now();
  const event = beforeSend({ event_id: uuid(), timestamp: at, url: shown(location.href), ...facts, tags: { ...tags, ...facts.tags } });
  if (!event) return undefined;
  const envelope = JSON.stringify({ key, release, environment, session_id: session, user: user && { id: user.id }, sdk: `pharos/${SDK_VERSION}` });
  add({ envelope, event: textOf(event), at, sent: 0, vital: event.type === "vital" });
  schedule();
  return event.event_id;
}

function textOf(event: PharosEvent): string {
  const text = JSON.stringify(event);
  return text.length < LONGEST_EVENT ? text : JSON.stringify({ ...event, breadcrumbs: [], causes: [], stack: event.stack?.slice(0, LONGEST_STACK) });
}
