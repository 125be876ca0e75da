import { decodePercent } from "../decode-percent.ts";
import type { Notice } from "../notice.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { SMS } from "./vendor-limits.ts";

/** GSM 03.38: the characters of one septet, and those of two. */
const GSM = new Set("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà");
const GSM_EXTENDED = new Set("^{}\\[~]|€\f");

/** What people's texts often hold for want of a plain character; one of it would halve what a message can hold. */
const PLAIN: Record<string, string> = { "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ", "\t": " " };

/** Twilio's form: To, From and Body, as the operator's gateway takes it, signed in with what stands in its address. */
export function smsPayload({ config, notice, settings: { SMS_GATEWAY_URL, SMS_FROM } }: PayloadInput): Payload {
  if (SMS_GATEWAY_URL === null) return { kind: "unsendable", error: "This Pharos has no gateway for text messages: its operator must set SMS_GATEWAY_URL and SMS_FROM." };
  if (SMS_FROM === null) return { kind: "unsendable", error: "This Pharos does not know who its text messages come from: its operator must set SMS_FROM." };
  const url = new URL(SMS_GATEWAY_URL);
  const credentials = url.username === "" && url.password === "" ? null : `${decodePercent(url.username)}:${decodePercent(url.password)}`;
  // Addresses with credentials are refused on the way out; theirs is a header.
  [url.username, url.password] = ["", ""];
  return {
    kind: "request",
    url: url.href,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json", ...(credentials !== null && { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }) },
    body: new URLSearchParams({ To: config.phone_number ?? "", From: SMS_FROM, Body: smsText(notice) }).toString(),
    allowHttp: true,
  };
}

/** Title and text on as many segments as are sensible, the link whole at its end, or left out where it would be most of the message. */
function smsText({ title, text, link, source }: Pick<Notice, "title" | "text" | "link" | "source">): string {
  const said = plain(`${source}: ${title}${text === "" ? "" : `. ${text}`}`.replace(/\s+/g, " "));
  const ending = link && link.url.length <= 120 ? ` ${link.url}` : "";
  const isGsm = Array.from(said + ending).every((character) => GSM.has(character) || GSM_EXTENDED.has(character));
  const { alone, each } = isGsm ? SMS.gsm : SMS.ucs2;
  const unitsOf = (character: string): number => (isGsm ? (GSM_EXTENDED.has(character) ? 2 : 1) : character.length);
  const length = (characters: string): number => Array.from(characters).reduce((sum, character) => sum + unitsOf(character), 0);
  if (length(said + ending) <= alone) return said + ending;
  return cutTo(said, SMS.segments * each - length(ending), unitsOf) + ending;
}

function cutTo(text: string, most: number, unitsOf: (character: string) => number): string {
  let units = 0;
  let fitting = "";
  let whole = "";
  for (const character of text) {
    units += unitsOf(character);
    if (units > most) return `${fitting.trimEnd()}...`;
    whole += character;
    if (units <= most - 3) fitting = whole;
  }
  return text;
}

function plain(text: string): string {
  return Array.from(text, (character) => (/^[\ud800-\udfff]$/.test(character) ? "\ufffd" : (PLAIN[character] ?? character))).join("");
}
