/** What goes along with a start that failed. */
interface StartFailureDetails {
  /** What to do about it, as a sentence. */
  fix?: string;
  /** The last lines of a log, shown below the sentences. */
  lines?: readonly string[];
  cause?: unknown;
}

/**
 * Pharos cannot start, for a reason that a person can do something about. `main.ts` prints the message
 * without a stack and exits 1, so the message holds everything: sentence, fix and lines of a log.
 */
export class StartFailure extends Error {
  constructor(sentence: string, { fix, lines = [], cause }: StartFailureDetails = {}) {
    super([fix ? `${sentence} ${fix}` : sentence, ...lines.map((line) => `  | ${line}`)].join("\n"), { cause });
    this.name = "StartFailure";
  }
}
