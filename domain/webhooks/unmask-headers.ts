import { Failure } from "../../platform/failures.ts";
import { MASK } from "../secret-names.ts";
import type { WebhookRow } from "./read.ts";

/**
 * Custom headers as they are to be stored: a value that was sent back as it is shown, masked, is the stored one. It is given
 * back only while `url` stays at the origin it was stored for: otherwise whoever may change a webhook could have a secret,
 * that nobody may read, sent to himself. INVALID_REQUEST with the header's place.
 */
export function unmaskHeaders(headers: Readonly<Record<string, string>>, stored: Pick<WebhookRow, "url" | "headers"> | null, url: string): Record<string, string> {
  const sameOrigin = stored !== null && new URL(stored.url).origin === new URL(url).origin;
  const kept = new Map(Object.entries(sameOrigin ? stored.headers : {}).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      const restored = kept.get(name.toLowerCase());
      if (restored === undefined) throw lostValue(name, stored !== null && !sameOrigin);
      return [name, restored];
    }),
  );
}

function lostValue(name: string, otherOrigin: boolean): Failure {
  const reason = otherOrigin ? "the url goes to another origin than the one it was given for" : "no value of it is stored";
  return new Failure("INVALID_REQUEST", `The value of the header ${name} is masked, and ${reason}.`, { path: `/headers/${name.replaceAll("~", "~0")}`, fix: "Send headers with the value itself, or without this header." });
}
