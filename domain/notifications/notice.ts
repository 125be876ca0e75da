/** How bad it is, in PagerDuty's words; `good` is for what is over. */
export type Tone = "critical" | "error" | "warning" | "info" | "good";

/** What a channel is told, in no vendor's form. All texts are plain, of any length and any characters. */
export interface Notice {
  /** `info` neither begins nor ends anything. */
  kind: "opened" | "updated" | "resolved" | "info";
  /** What it is about, for counting: the key of SUBJECTS. */
  subject: keyof typeof SUBJECTS;
  tone: Tone;
  /** Never blank. */
  title: string;
  /** May be empty. */
  text: string;
  fields: { name: string; value: string }[];
  link: { url: string; label: string } | null;
  /** The same for all that is told of one thing, so that its end finds its beginning; of no more than 255 ASCII characters. */
  dedupKey: string;
  at: Date;
  /** `at` as people of the organization read it. */
  when: string;
  /** The organization's name, never blank. */
  source: string;
}

/** One and many of what notices are about. */
export const SUBJECTS = {
  incident: ["incident", "incidents"],
  maintenance: ["maintenance window", "maintenance windows"],
  monitor: ["monitor", "monitors"],
  certificate: ["certificate", "certificates"],
  registration: ["domain registration", "domain registrations"],
  message: ["message", "messages"],
} as const;

/** The worst first. */
export const TONES: readonly Tone[] = ["critical", "error", "warning", "info", "good"];

/** The colour of each tone as #rrggbb, legible beside text on light and dark ground. */
export const COLOURS: Record<Tone, string> = { critical: "#d92d20", error: "#e8590c", warning: "#f5a623", info: "#2563eb", good: "#2e9e5b" };
