import { momentIn } from "./moment-in.ts";
import { SUBJECTS, TONES, type Notice } from "./notice.ts";

/** So many are named, the worst and newest; the others are counted. */
const NAMED = 10;

const DONE: Record<Notice["kind"], string> = { opened: "opened", updated: "updated", resolved: "resolved", info: "" };
/** What beginning and ending is called where "opened" and "resolved" would be odd. */
const WORDS: Partial<Record<Notice["subject"], Partial<Record<Notice["kind"], string>>>> = {
  maintenance: { opened: "started", resolved: "completed", info: "scheduled" },
  monitor: { opened: "down", resolved: "up again" },
  certificate: { opened: "expiring" },
  registration: { opened: "expiring" },
};

/** One notice that tells several, two at least, oldest first: how many of which kind, and the worst and newest by name. */
export function sumUp(notices: readonly Notice[], at: Date, timezone: string): Notice {
  const ranked = [...notices].sort((one, other) => TONES.indexOf(one.tone) - TONES.indexOf(other.tone) || other.at.getTime() - one.at.getTime());
  const named = ranked.slice(0, NAMED);
  const lines = named.map(({ title, when }) => `• ${title} (${when})`);
  const more = notices.length - named.length;
  return {
    kind: "info",
    subject: "message",
    tone: named[0]?.tone ?? "info",
    title: `${notices.length} notices: ${countsOf(notices)}`,
    text: [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n"),
    fields: [],
    link: named.find(({ link }) => link !== null)?.link ?? null,
    dedupKey: "together",
    at,
    when: momentIn(at, timezone),
    source: named[0]?.source ?? "Pharos",
  };
}

/** "5 incidents opened, 1 monitor up again", the most first. */
function countsOf(notices: readonly Notice[]): string {
  const counts = new Map<string, { count: number; subject: Notice["subject"]; word: string }>();
  for (const { subject, kind } of notices) {
    const word = WORDS[subject]?.[kind] ?? DONE[kind];
    const counted = counts.get(`${subject} ${word}`) ?? { count: 0, subject, word };
    counted.count++;
    counts.set(`${subject} ${word}`, counted);
  }
  return [...counts.values()]
    .sort((one, other) => other.count - one.count)
    .map(({ count, subject, word }) => `${count} ${SUBJECTS[subject][count === 1 ? 0 : 1]} ${word}`.trim())
    .join(", ");
}
