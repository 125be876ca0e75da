/** Answers that stay right as long as the version that they were made at. */
export interface KeptAnswers<Answer extends { body: { length: number } }> {
  /** The answer that is kept of an owner for `name` at `version`, or is being made; null when there is none. */
  peek(owner: string, name: string, version: string): Promise<Answer> | null;

  /** The answer that is kept of an owner for `name` at `version`, or a new one, made once for all who ask for it at the same time. */
  find(owner: string, name: string, version: string, make: () => Promise<Answer>): Promise<Answer>;
}

interface Entry<Answer> {
  owner: string;
  version: string;
  answer: Promise<Answer>;
  bytes: number;
}

/** Of all bytes the part that one owner's answers may take. */
const OWNER_SHARE = 0.25;

/** Keeps up to `limit` bytes, those asked for last. An owner who asks for much takes the place of its own answers before that of others'. */
export function makeKeptAnswers<Answer extends { body: { length: number } }>(limit: number): KeptAnswers<Answer> {
  /** The one asked for longest ago first. */
  const entries = new Map<string, Entry<Answer>>();
  let bytes = 0;
  const bytesOf = new Map<string, number>();

  function add(owner: string, more: number): void {
    bytes += more;
    const sum = (bytesOf.get(owner) ?? 0) + more;
    if (sum > 0) bytesOf.set(owner, sum);
    else bytesOf.delete(owner);
  }

  function drop(name: string, entry: Entry<Answer>): void {
    if (entries.get(name) !== entry) return;
    entries.delete(name);
    add(entry.owner, -entry.bytes);
  }

  function weigh(name: string, entry: Entry<Answer>, body: Answer["body"]): void {
    if (entries.get(name) !== entry) return;
    // The name and the entry count as well.
    entry.bytes = body.length + name.length + 200;
    add(entry.owner, entry.bytes);
    for (const [oldest, other] of entries) {
      const tooMany = (bytesOf.get(entry.owner) ?? 0) > limit * OWNER_SHARE;
      if (bytes <= limit && !tooMany) break;
      if (bytes > limit || other.owner === entry.owner) drop(oldest, other);
    }
  }

  /** Makes it the last that was asked for. */
  function findEntry(name: string, version: string): Entry<Answer> | null {
    const known = entries.get(name);
    if (known?.version !== version) return null;
    entries.delete(name);
    entries.set(name, known);
    return known;
  }

  return {
    peek: (owner, what, version) => findEntry(`${owner} ${what}`, version)?.answer ?? null,
    find(owner, what, version, make) {
      const name = `${owner} ${what}`;
      const known = findEntry(name, version);
      if (known) return known.answer;
      const old = entries.get(name);
      if (old) drop(name, old);
      const entry: Entry<Answer> = { owner, version, answer: make(), bytes: 0 };
      entries.set(name, entry);
      entry.answer.then(
        ({ body }) => weigh(name, entry, body),
        () => drop(name, entry),
      );
      return entry.answer;
    },
  };
}
