/** What XML 1.0 §2.2 does not allow, however it is written: most control characters, halves of surrogate pairs, U+FFFE and U+FFFF. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Text without characters that no XML may contain. They carry no meaning in what people write, and readers drop a whole feed for one of them. */
export function legalText(text: string): string {
  return text.replace(ILLEGAL, "");
}
