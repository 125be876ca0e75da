const DATE = /^\d{4}-\d\d?-\d\d?(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?$|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$|^\d{4}\/\d\d?\/\d\d?$|^\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?Z?$/;
/** The scheme's length is bounded, so that a long word without `://` costs no more than its length. */
const URL = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'`<>]+/gi;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IP4 = /^(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:\/\d{1,2})?$/;
const IP6 = /^(?:[0-9a-f]{0,4}:){2,7}[0-9a-f.]{0,15}$/i;
const DURATION = /^[-+]?\d+(?:\.\d+)?(?:ns|µs|us|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hrs?|hours?|d|days?)$/i;
const NUMBER = /^[-+]?\d[\d,._]*(?:e[-+]?\d+)?%?$/i;
const HEX = /^(?:0x[0-9a-f]+|[0-9a-f]{8,})$/i;
const MONTH = /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?$/i;
const WEEKDAY = /^(?:mon|tue|tues|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?$/i;

/**
 * What every site reports, whoever wrote it: one text for what browsers and bundlers word differently, and say about any chunk or address.
 * Each is found where the message begins, or behind what browsers put before it.
 */
const NOISE: [wording: RegExp, text: string][] = [
  [/^(?:Uncaught )?(?:Error: )?ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)\.?$/, "ResizeObserver loop"],
  [/^(?:Uncaught )?Script error\.?$/i, "Script error"],
  [/^(?:Uncaught )?(?:\(in promise\) )?(?:ChunkLoadError: )?Loading (?:CSS )?chunk \S+ failed/i, "Loading a chunk failed"],
  [/^(?:Uncaught )?(?:\(in promise\) )?(?:TypeError: )?(?:Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed)/, "Importing a module failed"],
  [/^(?:Error: )?Unable to preload CSS for /, "Preloading CSS failed"],
  [/^(?:.{0,80}: )?(?:Blocked a frame with origin|Permission denied to access property "[^"]{0,100}" on cross-origin object)/, "Access to a frame of another origin"],
];
const LONGEST_NOISE = 300;

/**
 * A message with its variable parts replaced, so that the same error about other things reads the same:
 * `User 42 not found` → `User <number> not found`. Numbers, hex, UUIDs, URLs, email and IP addresses, dates,
 * durations and quoted texts. Time is linear in the text.
 */
export function stableMessage(message: string): string {
  const start = message.slice(0, LONGEST_NOISE);
  const known = NOISE.find(([wording]) => wording.test(start));
  if (known !== undefined) return known[1];
  const words = tokensOf(withoutQuoted(message.replace(URL, (url) => `<url>${/[).,;:!?\]]*$/.exec(url.slice(-3))![0]}`)));
  let text = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    text += isPartOfDate(words, at) ? "<date>" : stableWord(word);
  }
  return text.replace(/<date>(?:,? ?<(?:date|number)>)+/g, "<date>").trim();
}

const QUOTES: Record<string, string> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" };

/** A quote opens where no word stands before it and closes where none follows, so that `can't` stays. */
function withoutQuoted(message: string): string {
  let text = "";
  const unclosed = new Set<string>();
  for (let at = 0; at < message.length; at++) {
    const character = message[at]!;
    const closing = QUOTES[character];
    if (closing === undefined || unclosed.has(character) || isWordAt(message, at - 1)) {
      text += character;
      continue;
    }
    let end = message.indexOf(closing, at + 1);
    while (end !== -1 && isWordAt(message, end + 1)) end = message.indexOf(closing, end + 1);
    if (end === -1) {
      // None closes from here on, so none needs to be looked for again.
      unclosed.add(character);
      text += character;
    } else {
      text += "<quoted>";
      at = end;
    }
  }
  return text;
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.charAt(at));
}

/** Words and what stands between them, in order; joined they are the text. */
function tokensOf(text: string): string[] {
  return text.split(/([\s()[\]{},;=|"]+)/);
}

function stableWord(word: string): string {
  if (word === "" || word.startsWith("<quoted>")) return word;
  const tail = /[.:!?]+$/.exec(word.slice(-3))?.[0] ?? "";
  const core = tail === "" ? word : word.slice(0, -tail.length);
  return (wholeWord(core) ?? core.replace(/\d+(?:\.\d+)?/g, "<number>")) + tail;
}

function wholeWord(word: string): string | null {
  const at = word.indexOf("@");
  if (at > 0 && word.indexOf(".", at + 2) !== -1) return "<email>";
  if (!/[\d:]/.test(word)) return null;
  if (UUID.test(word)) return "<uuid>";
  if (DATE.test(word)) return "<date>";
  if (IP4.test(word) || (word.includes("::") && IP6.test(word)) || (word.split(":").length === 8 && IP6.test(word))) return "<ip>";
  if (NUMBER.test(word)) return "<number>";
  if (DURATION.test(word)) return "<duration>";
  return HEX.test(word) ? "<hex>" : null;
}

/** Months and weekdays beside numbers: `Tue Nov 21 2023`, `21 Nov 2023`. */
function isPartOfDate(words: string[], at: number): boolean {
  const word = words[at]!;
  const beside = (step: number) => words[at + 2 * step] ?? "";
  if (MONTH.test(word)) return /^\d{1,4}$/.test(beside(-1)) || /^\d{1,4}$/.test(beside(1));
  return WEEKDAY.test(word) && (MONTH.test(beside(1)) || /^\d{1,2}$/.test(beside(1)));
}
