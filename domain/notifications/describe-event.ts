import type { EventType } from "../../schemas/vocabulary.ts";
import { SUBJECTS, type Notice, type Tone } from "./notice.ts";
import { momentIn } from "./moment-in.ts";

/** What of an organization its notices show. */
export interface NoticeSettings {
  organizationName: string;
  /** An IANA name. */
  timezone: string;
  /** Where people find Pharos, without a slash at its end; null when it is not told, and then nothing has a link. */
  publicUrl: string | null;
  /** Of the organization's default page; null without one. */
  pageSlug: string | null;
}

export interface ToldEvent {
  type: EventType;
  data: Record<string, unknown>;
  createdAt: Date;
}

type Particulars = Omit<Notice, "at" | "when" | "source" | "link" | "title"> & { title: string; /** Whether the organization's page shows more of it. */ onPage?: boolean };

/** Data of an event, whoever wrote it: what is missing or of another type is blank. */
interface Reader {
  text(name: string): string;
  list(name: string): string;
  moment(name: string): string;
  number(name: string): number | null;
}

const INCIDENT_TONES: Record<string, Tone> = { critical: "critical", major: "error", minor: "warning" };

/** One line for each event that channels are told of (`domain/events/fan-out.ts` chooses them). */
const DESCRIBED: Partial<Record<EventType, (data: Reader) => Particulars>> = {
  "incident.created": (data) => incident(data, "opened"),
  "incident.updated": (data) => incident(data, "updated"),
  "incident.resolved": (data) => incident(data, "resolved"),
  "incident.deleted": (data) => ({ ...incident(data, "resolved"), title: `Incident deleted: ${data.text("title")}`, text: "It was deleted before it was resolved." }),
  "maintenance.scheduled": (data) => maintenance(data, "info", "Maintenance scheduled"),
  "maintenance.started": (data) => maintenance(data, "opened", "Maintenance started"),
  "maintenance.completed": (data) => maintenance(data, "resolved", "Maintenance completed"),
  "monitor.down": (data) => monitor(data, { kind: "opened", tone: "critical", state: "is down", text: data.text("error") }),
  "monitor.up": (data) => monitor(data, { kind: "resolved", tone: "good", state: "is up again", text: "" }),
  "ssl.expiring": (data) => expiring(data, "certificate"),
  "domain.expiring": (data) => expiring(data, "registration"),
};

/** An event as channels tell it. An event that they are never told of becomes a notice that names it. */
export function describeEvent({ type, data, createdAt }: ToldEvent, settings: NoticeSettings): Notice {
  const describe = DESCRIBED[type];
  const { title, ...particulars } = describe
    ? describe(readerOf(data, settings.timezone))
    : { kind: "info" as const, subject: "message" as const, tone: "info" as const, title: type, text: "", fields: [], dedupKey: type };
  return finish({ ...particulars, title, at: createdAt }, settings);
}

/** A text that a workflow, a person or Pharos itself wants told. */
export function describeMessage({ id, text, at, title, tone }: { id: string; text: string; at: Date; title: string; tone: Tone }, settings: NoticeSettings): Notice {
  return finish({ kind: "info", subject: "message", tone, title, text, fields: [], dedupKey: `message/${id}`, at }, settings);
}

function finish({ onPage = false, at, title, text, fields, ...rest }: Particulars & { at: Date }, { organizationName, timezone, publicUrl, pageSlug }: NoticeSettings): Notice {
  const url = !onPage || publicUrl === null || pageSlug === null ? null : `${publicUrl}/pages/${encodeURIComponent(pageSlug)}`;
  return {
    ...rest,
    title: title.replace(/\s+/g, " ").trim() || "Notice",
    text: text.trim(),
    fields: fields.map(({ name, value }) => ({ name, value: value.trim() })).filter(({ value }) => value !== ""),
    link: url === null ? null : { url, label: "Open the status page" },
    at,
    when: momentIn(at, timezone),
    source: organizationName.trim() || "Pharos",
  };
}

function incident(data: Reader, kind: "opened" | "updated" | "resolved"): Particulars {
  const seconds = data.number("duration_seconds");
  return {
    kind,
    subject: "incident",
    tone: kind === "resolved" ? "good" : (INCIDENT_TONES[data.text("severity")] ?? "error"),
    title: `Incident ${kind}: ${data.text("title")}`,
    text: data.text("message"),
    fields: [
      { name: "Status", value: capital(data.text("status")) },
      { name: "Severity", value: capital(data.text("severity")) },
      { name: "Services", value: data.list("services") },
      { name: "Duration", value: seconds === null ? "" : durationOf(seconds) },
    ],
    dedupKey: keyOf("incident", data),
    onPage: true,
  };
}

function maintenance(data: Reader, kind: "opened" | "resolved" | "info", title: string): Particulars {
  return {
    kind,
    subject: "maintenance",
    tone: kind === "resolved" ? "good" : "info",
    title: `${title}: ${data.text("title")}`,
    text: data.text("message") || data.text("description"),
    fields: [
      { name: "From", value: data.moment("starts_at") },
      { name: "Until", value: data.moment("ends_at") },
      { name: "Services", value: data.list("services") },
    ],
    dedupKey: keyOf("maintenance", data),
    onPage: true,
  };
}

/** Of any kind. */
function monitor(data: Reader, { kind, tone, state, text }: { kind: "opened" | "resolved"; tone: Tone; state: string; text: string }): Particulars {
  const name = data.text("name") || "A monitor";
  return { kind, subject: "monitor", tone, title: `${name} ${state}`, text, fields: [{ name: "Address", value: data.text("url") }], dedupKey: keyOf("monitor", data) };
}

function expiring(data: Reader, subject: "certificate" | "registration"): Particulars {
  const days = data.number("days_until_expiry");
  const expired = days !== null && days < 0;
  const within = days === null ? "expires soon" : expired ? "has expired" : days === 0 ? "expires today" : `expires in ${days} ${days === 1 ? "day" : "days"}`;
  return {
    kind: "opened",
    subject,
    tone: expired ? "critical" : "warning",
    title: `The ${SUBJECTS[subject][0]} of ${data.text("domain")} ${within}`,
    text: "",
    fields: [
      { name: "Expires", value: data.moment("expires_at") },
      { name: subject === "certificate" ? "Issuer" : "Registrar", value: data.text("issuer") || data.text("registrar") },
    ],
    dedupKey: keyOf(subject, data),
  };
}

function readerOf(data: Record<string, unknown>, timezone: string): Reader {
  const text = (name: string): string => (typeof data[name] === "string" ? data[name] : "");
  return {
    text,
    list: (name) => (Array.isArray(data[name]) ? data[name].filter((each) => typeof each === "string").join(", ") : ""),
    moment: (name) => (Number.isNaN(Date.parse(text(name))) ? "" : momentIn(new Date(text(name)), timezone)),
    number: (name) => (typeof data[name] === "number" ? data[name] : null),
  };
}

/** Ids are ours and short; what is none is made harmless. */
function keyOf(noun: string, data: Reader): string {
  return `${noun}/${data.text("id").replace(/[^\w-]/g, "").slice(0, 100)}`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function durationOf(seconds: number): string {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor((seconds % 86_400) / 3_600), Math.floor((seconds % 3_600) / 60)];
  const parts = [days > 0 && `${days} d`, hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`].filter((part) => part !== false);
  return parts.slice(0, 2).join(" ") || `${seconds} s`;
}
