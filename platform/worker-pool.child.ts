// Run on the threads of worker-pool.test.ts.
export function act(task: string): string {
  if (task === "die") process.exit(9);
  if (task === "throw") throw new RangeError("thrown");
  if (task === "hang") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return task;
}
