/**
 * A text as an HTML parser reads it inside a style element: line breaks are LF, and no character is NUL (WHATWG HTML, 13.2.3.5 and 13.2.5.3).
 * What a Content-Security-Policy names by its hash has to be this text, because browsers hash what they have parsed.
 */
export function asHtmlReads(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD");
}
