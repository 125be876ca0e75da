/** Percent-encoded text as it is meant; what is not rightly encoded, as it stands. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
