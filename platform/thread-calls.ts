import type { MessagePort, Worker } from "node:worker_threads";

/** A call, and what became of it under the same number. */
type Message =
  | { kind: "call"; number: number; name: string; given: unknown }
  | { kind: "answer"; number: number; result: unknown }
  | { kind: "failure"; number: number; error: { name: string; message: string } };

/** What may be called from the other thread, by name. */
export type ThreadHandlers = Record<string, (given: never) => unknown>;

export interface ThreadCalls {
  /**
   * Calls a handler of the other thread and resolves with what it gave. Rejects with an Error of
   * the name and the message that the handler threw, or once `close` was called. `transfer`
   * names memory that moves along instead of being copied.
   */
  call<Result>(name: string, given?: unknown, transfer?: ArrayBuffer[]): Promise<Result>;
  /** Ends the connection; calls that wait reject. */
  close(): void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Two threads call each other over the two ends of a channel, or a thread and the Worker that it
 * is to its maker; what is passed is cloned.
 */
export function makeThreadCalls(port: MessagePort | Worker, handlers: ThreadHandlers): ThreadCalls {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let closed = false;

  async function answer(number: number, name: string, given: unknown): Promise<void> {
    let message: Message;
    try {
      message = { kind: "answer", number, result: await handlers[name]!(given as never) };
    } catch (error) {
      const { name: errorName, message: text } = error instanceof Error ? error : new Error(String(error));
      message = { kind: "failure", number, error: { name: errorName, message: text } };
    }
    if (!closed) port.postMessage(message);
  }

  function settle(number: number, how: (entry: Waiting) => void): void {
    const entry = waiting.get(number);
    waiting.delete(number);
    if (entry) how(entry);
  }

  port.on("message", (message: Message) => {
    if (message.kind === "call") void answer(message.number, message.name, message.given);
    else if (message.kind === "answer") settle(message.number, ({ resolve }) => resolve(message.result));
    else settle(message.number, ({ reject }) => reject(Object.assign(new Error(message.error.message), { name: message.error.name })));
  });

  return {
    call<Result>(name: string, given?: unknown, transfer: ArrayBuffer[] = []) {
      return new Promise<Result>((resolve, reject) => {
        if (closed) return reject(new Error("the other thread has ended"));
        const number = ++last;
        waiting.set(number, { resolve, reject });
        port.postMessage({ kind: "call", number, name, given } satisfies Message, transfer);
      });
    },
    close() {
      closed = true;
      if ("close" in port) port.close();
      for (const number of waiting.keys()) settle(number, ({ reject }) => reject(new Error("the other thread has ended")));
    },
  };
}
