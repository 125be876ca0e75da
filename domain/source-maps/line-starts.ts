/**
 * Where each line of a text begins, in UTF-16 units; the first is 0. A line ends as ECMAScript says (ECMA-262 §12.3):
 * LF, CR LF, CR alone, U+2028 or U+2029, because original positions count lines so.
 */
export function lineStartsOf(text: string): Int32Array {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 13 && text.charCodeAt(at + 1) === 10) at++;
    else if (code !== 10 && code !== 13 && code !== 0x20_28 && code !== 0x20_29) continue;
    starts.push(at + 1);
  }
  return Int32Array.from(starts);
}

