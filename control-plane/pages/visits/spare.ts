/**
 * Calls `act` for a key at once, and for all further calls with this key within the pause once more at its end: what changes a hundred
 * times a second is not read a hundred times.
 */
export function spare<Key>(act: (key: Key) => void, pauseMs: number): (key: Key) => void {
  const resting = new Map<Key, { again: boolean }>();
  return function call(key) {
    const rest = resting.get(key);
    if (rest) {
      rest.again = true;
      return;
    }
    act(key);
    const begun = { again: false };
    resting.set(key, begun);
    setTimeout(() => {
      resting.delete(key);
      if (begun.again) call(key);
    }, pauseMs).unref();
  };
}
