import { expect, onTestFinished, test } from "vitest";
import { moduleFile } from "./root.ts";
import { startWorkerPool, WorkerLost } from "./worker-pool.ts";

test("a thread that hangs or dies is lost to its task alone: those that wait behind it are run by the next", async () => {
  const pool = startWorkerPool<string, string>({ file: moduleFile("./worker-pool.child.ts", import.meta.url), name: "act", threads: 1, deadlineMs: 6_000 });
  onTestFinished(() => pool.close());
  expect(await pool.run("first")).toBe("first");
  const results = await Promise.allSettled(["die", "hang", "throw", "hang", "last"].map((task) => pool.run(task)));
  expect(results.map((result) => (result.status === "rejected" ? (result.reason as Error).name : result.value))).toEqual(["WorkerLost", "WorkerLost", "RangeError", "WorkerLost", "last"]);
  const [died, hung] = results as PromiseRejectedResult[];
  expect(died!.reason).toBeInstanceOf(WorkerLost);
  expect((died!.reason as Error).message).toBe("its worker thread died: worker exited with code: 9");
  expect((hung!.reason as Error).message).toBe("it kept a worker thread busy for 6000 ms and was ended");
});
