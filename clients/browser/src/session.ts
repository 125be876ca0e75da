import { attempt } from "./attempt.ts";
import { SESSION_IDLE_MS } from "./limits.ts";
import { uuid } from "./uuid.ts";

const PLACE = "pharos:session";

/** `<id> <ms of its last use>`; also in sessionStorage, unless the browser refuses it. */
let session = "";

/** The tab's session: a random id without a cookie, new after half an hour in which nothing was reported. */
export function sessionId(): string {
  const now = Date.now();
  session = attempt(() => sessionStorage.getItem(PLACE)) ?? session;
  const [known, used] = session.split(" ");
  const id = now - Number(used) < SESSION_IDLE_MS ? known! : uuid();
  session = `${id} ${now}`;
  attempt(() => sessionStorage.setItem(PLACE, session));
  return id;
}
