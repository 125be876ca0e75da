/** Longer texts are rare and would cost memory; they are computed each time. */
const MAX_KEY_CHARACTERS = 500;

/** `compute` with its last answers kept, up to `limit` of them. For pure functions of texts that repeat, like file names. */
export function remember<T>(limit: number, compute: (text: string) => T): (text: string) => T {
  const answers = new Map<string, T>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined || text.length > MAX_KEY_CHARACTERS) return known ?? compute(text);
    const answer = compute(text);
    if (answers.size >= limit) answers.clear();
    // A slice would keep the whole text alive that it was cut from; this one is cut from a copy of itself.
    answers.set(` ${text}`.slice(1), answer);
    return answer;
  };
}
