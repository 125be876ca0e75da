import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";

interface RunningModule {
  child: ChildProcess;
  /** Resolves with everything printed so far once `text` has been; rejects when the process ends before. */
  printed(text: string): Promise<string>;
  /** Resolves with everything printed, and how it ended. */
  ended(): Promise<{ output: string; code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * Runs JavaScript in a Node process of its own, with `import "./platform/…ts"` relative to the project, so that it can be
 * killed or run as another user. What it prints on both streams is one text.
 */
export function runModule(code: string, user: { uid: number; gid: number } | null = null): RunningModule {
  const script = code.replace(/from "\.\//g, `from "file://${PROJECT_ROOT}/`);
  const child = spawn(process.execPath, [...LOADER_ARGUMENTS, "--input-type=module", "-e", script], { ...user, cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const more = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      for (const look of more) look();
    });
  }
  return {
    child,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => output.includes(text) && resolve(output);
        more.add(look);
        look();
        void closed.then(() => (look(), reject(new Error(`ended without printing "${text}":\n${output}`))));
      }),
    async ended() {
      const [code, signal] = await closed;
      return { output, code, signal };
    },
  };
}

/** For root: an ordinary user who can read this project and run this Node, else null; others are ordinary themselves. */
export function findOrdinaryUser(): { uid: number; gid: number } | null {
  const nobody = { uid: 65_534, gid: 65_534 };
  if (process.getuid?.() !== 0) return null;
  return spawnSync(process.execPath, [...LOADER_ARGUMENTS, "-e", ""], { ...nobody, cwd: PROJECT_ROOT }).status === 0 ? nobody : null;
}
