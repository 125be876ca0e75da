/**
 * The answers to texts that came lately, in two generations: a full one becomes the older, and what is asked for again moves to the younger.
 * So a flood of new texts never throws out all at once what the usual ones need. Holds at most twice `entries` answers and twice `characters` of texts.
 */
export function makeRecent<Answer extends object>({ entries, characters }: { entries: number; characters: number }): { get(text: string): Answer | undefined; set(text: string, answer: Answer): void } {
  let young = new Map<string, Answer>();
  let old = new Map<string, Answer>();
  let held = 0;

  function set(text: string, answer: Answer): void {
    if (young.size >= entries || held + text.length > characters) {
      old = young;
      young = new Map();
      held = 0;
    }
    young.set(text, answer);
    held += text.length;
  }

  return {
    set,
    get(text) {
      const known = young.get(text);
      if (known !== undefined) return known;
      const older = old.get(text);
      if (older !== undefined) set(text, older);
      return older;
    },
  };
}
