/** Answers that stay right as long as the version that they were made at. */
export interface KeptAnswers<Answer extends { body: string }> {
  /** The answer kept for `name` at `version`, or a new one, made once for all who ask for it at the same time. */
  find(name: string, version: string, make: () => Promise<Answer>): Promise<Answer>;
}

interface Entry<Answer> {
  version: string;
  answer: Promise<Answer>;
  bytes: number;
}

/** Keeps up to `limit` bytes, those asked for last. */
export function makeKeptAnswers<Answer extends { body: string }>(limit: number): KeptAnswers<Answer> {
  /** The one asked for longest ago first. */
  const entries = new Map<string, Entry<Answer>>();
  let bytes = 0;

  function drop(name: string, entry: Entry<Answer>): void {
    if (entries.get(name) !== entry) return;
    entries.delete(name);
    bytes -= entry.bytes;
  }

  function weigh(name: string, entry: Entry<Answer>, body: string): void {
    if (entries.get(name) !== entry) return;
    // V8 holds most texts at a byte a character; the name and the entry count as well.
    entry.bytes = body.length + name.length + 200;
    bytes += entry.bytes;
    for (const [oldest, other] of entries) {
      if (bytes <= limit) break;
      drop(oldest, other);
    }
  }

  return {
    find(name, version, make) {
      const known = entries.get(name);
      if (known) {
        entries.delete(name);
        if (known.version === version) {
          entries.set(name, known);
          return known.answer;
        }
        bytes -= known.bytes;
      }
      const entry: Entry<Answer> = { version, answer: make(), bytes: 0 };
      entries.set(name, entry);
      entry.answer.then(
        ({ body }) => weigh(name, entry, body),
        () => drop(name, entry),
      );
      return entry.answer;
    },
  };
}
