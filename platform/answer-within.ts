/**
 * Settles as `call` does, or rejects after `ms` with a sentence that names `what`. The call itself
 * goes on; nobody hears of its end.
 */
export async function answerWithin<T>(ms: number, what: string, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} has not answered within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
