/**
 * How many brackets stand inside each other in a program at most, about; counting ends above `enough`.
 * Only a guess: strings and comments are passed over, regular expressions and the text of JSX are read as code.
 * A closing bracket closes whatever was left open inside its own, so that a wrong guess does not add up over a long file.
 */
export function nestsDeeperThan(enough: number, text: string): boolean {
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const closing = CLOSING.get(code);
    if (closing !== undefined) {
      if (open.push(closing) > enough) return true;
    } else if (code === 41 || code === 93 || code === 125) {
      const opened = open.lastIndexOf(code);
      if (opened !== -1) open.length = opened;
    } else if (code === 92) at++;
    else if (code === 34 || code === 39) at = endOfString(text, at, code);
    else if (code === 47) at = endOfComment(text, at);
  }
  return false;
}

const CLOSING = new Map([
  [40, 41],
  [91, 93],
  [123, 125],
]);

/** The closing quote, or the line's end where there is none: then it was an apostrophe in JSX or in a regular expression. */
function endOfString(text: string, from: number, quote: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote || code === 10) return at;
    if (code === 92) at++;
  }
  return text.length;
}

/** `from` itself when the slash begins no comment. */
function endOfComment(text: string, from: number): number {
  const next = text.charCodeAt(from + 1);
  if (next !== 47 && next !== 42) return from;
  const end = next === 47 ? text.indexOf("\n", from) : text.indexOf("*/", from + 2) + 1;
  return end <= 0 ? text.length : end;
}
