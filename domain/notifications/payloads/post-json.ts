import type { Payload } from "./payload.ts";

/** A JSON body to an address of the organization's. */
export function postJson(url: string | undefined, body: unknown, allowHttp: boolean): Payload {
  return { kind: "request", url: url ?? "", headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(body), allowHttp };
}
