/** One `key: value` of a WHOIS text, the key in lower case. */
export interface WhoisEntry {
  key: string;
  value: string;
  /** The heading that it stands under. */
  section: string | null;
}

/** Headings that stand in a line of their own without a colon. */
const HEADINGS = new Set(["registrar", "nameservers", "name servers", "nameserver", "domain nameservers", "dns servers", "registrant", "admin contact", "technical contacts"]);

/** Lines that name their key without anything between it and the value. */
const WITHOUT_COLON = /^(record (?:expires|created) on|record last updated on|registered on|registry fee due on)\s+(.+)$/i;

/** `[Expires on]  2026/05/31`, `p. [Name Server]  ns1.example.jp` */
const BRACKETS = /^(?:[a-z]\.\s*)?\[([^\]]+)\]\s*(.*)$/;

/** `expires............: 1.5.2026`; the first colon ends the key, unless a URL goes on behind it. */
const COLON = /^([^:]{1,80}?)[\s.]*:(?!\/\/)\s*(.*)$/;

/** What no registry writes is not read: patterns over it could take long. */
const LONGEST_LINE = 1_000;

/** The pairs of a WHOIS text in their order. A key without a value heads a paragraph, whose bare lines are values of it. */
export function readWhoisLines(text: string): WhoisEntry[] {
  const entries: WhoisEntry[] = [];
  let section: string | null = null;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.slice(0, LONGEST_LINE).trim().replace(/^\*+\s*/, "");
    if (line === "") section = null;
    if (line === "" || /^(?:%|#|;|>>>|--)/.test(line)) continue;
    const pair = WITHOUT_COLON.exec(line) ?? BRACKETS.exec(line) ?? COLON.exec(line);
    const key = keyOf(pair?.[1] ?? line);
    if (pair && pair[2] !== "") entries.push({ key, value: pair[2]!.trim(), section });
    else if (pair || HEADINGS.has(key)) section = key;
    else if (section !== null) entries.push({ key: section, value: line, section });
  }
  return entries;
}

function keyOf(text: string): string {
  return text.toLowerCase().replace(/\s*\([^)]*\)\s*$/, "").replace(/[\s.]+$/, "").replace(/\s+/g, " ").trim();
}
