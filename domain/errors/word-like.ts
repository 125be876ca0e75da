/** Which letters follow which in English words and in names of code. What is written by chance soon has a pair that is not here. */
const FOLLOWERS: Record<string, string> = {
  a: "bcdfgiklmnprstuvwxyz", b: "abcdegijklmoprstuy", c: "acdehiklmopqrstuy", d: "abcdefgijlmnoprstuvy", e: "abcdefghijklmnopqrstuvwxyz", f: "aefilnorstuy",
  g: "aceghilmnorstuyz", h: "aeilmnorstuy", i: "abcdefgklmnopqrstuvxz", j: "aeoqsu", k: "adefgilnosuy", l: "abcdefgiklmopstuvwy", m: "abdeilmnoprstuy",
  n: "abcdefghijklmnoprstuvwyx", o: "abcdefgijklmnoprstuvwxy", p: "acdeghilmoprstuy", q: "lu", r: "abcdefgiklmnoprstuvwy", s: "abcdefhiklmnopqrstuvwy",
  t: "acdefghilmnoprstuwyz", u: "abcdefgilmnoprstx", v: "aeiotu", w: "aehilnoprsy", x: "aceilmopty", y: "abcefilmnopstw", z: "aeiozy",
};

/** Whether all letters of an alphanumeric text follow each other as in words, a new one beginning at each capital and after digits. */
export function hasOnlyWords(text: string): boolean {
  return wordsOf(text).every(isWord);
}

/** Whether the words of a text are long on average, as in `isIPv4MappedAddress`; those of a random text are of about two letters. */
export function hasLongWords(text: string): boolean {
  const { words, letters, digits } = measured(text);
  return digits * 2 <= letters && letters >= words.length * (words.every(isWord) ? 2.3 : 3.4);
}

/**
 * Whether a short alphanumeric text is written like a name: `MyButton`, `Utf8Text`, `useState`. Words of a fair length that can be spoken,
 * and few digits, only behind them. A random text of eight characters hardly ever is.
 */
export function readsLikeName(text: string): boolean {
  const { words, letters, digits } = measured(text);
  if (letters < words.length * 2.3 || digits * 2 > letters || /\d[^\d]+\d|^\d|^[A-Za-z]\d/.test(text)) return false;
  return words.every(isWord);
}

const SHORT_WORDS = new Set(["as", "at", "by", "db", "do", "go", "id", "in", "io", "is", "js", "my", "no", "of", "on", "or", "to", "ui", "up", "us"]);

/** Whether a text is nothing but words of three letters or more, or well-known short ones: `MyButton`, `CHECKOUT`, `useState`. */
export function isPlainName(text: string): boolean {
  return !/\d/.test(text) && wordsOf(text).every((word) => (word.length > 2 ? isWord(word) : SHORT_WORDS.has(word.toLowerCase())));
}

function measured(text: string): { words: string[]; letters: number; digits: number } {
  const words = wordsOf(text);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return { words, letters, digits: text.length - letters };
}

/** `XMLUtils2go` → `XML`, `Utils`, `go`. */
function wordsOf(text: string): string[] {
  return text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
}

function isWord(word: string): boolean {
  const text = word.toLowerCase();
  if (text.length > 3 && !/[aeiouy]/.test(text) && text !== "html" && text !== "http") return false;
  for (let at = 1; at < text.length; at++) if (!FOLLOWERS[text[at - 1]!]!.includes(text[at]!)) return false;
  return true;
}
