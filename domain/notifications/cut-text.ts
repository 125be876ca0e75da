const ELLIPSIS = "…";

/** At most `most` UTF-16 units, no character cut in halves; what was cut ends in an ellipsis. */
export function cutText(text: string, most: number): string {
  return cutEscaped(text, most, (character) => character);
}

/** Text with each character replaced by what `escape` makes of it, cut so that the result has at most `most` UTF-16 units and no replacement is cut. */
export function cutEscaped(text: string, most: number, escape: (character: string) => string): string {
  let whole = "";
  /** As much as fits with the ellipsis. */
  let fitting = "";
  for (const character of text) {
    const isHalf = character.length === 1 && character >= "\ud800" && character <= "\udfff";
    whole += escape(isHalf ? "\ufffd" : character);
    if (whole.length <= most - ELLIPSIS.length) fitting = whole;
    if (whole.length > most) return most > 0 ? fitting + ELLIPSIS : "";
  }
  return whole;
}
