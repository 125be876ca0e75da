import type { Config } from "../../../platform/config.ts";
import { Failure } from "../../../platform/failures.ts";
import { parseRanges } from "../../../platform/outbound/judge-address.ts";
import { judgeUrl } from "../../../platform/outbound/judge-url.ts";

export type UrlRules = Pick<Config, "OUTBOUND_ALLOW">;

/** INVALID_REQUEST for a URL that no check would ever go to. What its name resolves to is judged at each check. */
export function checkMonitorUrl(url: string, { OUTBOUND_ALLOW }: UrlRules): void {
  const judgement = judgeUrl(url, { allowHttp: true, allow: parseRanges(OUTBOUND_ALLOW) });
  if (!judgement.ok) throw new Failure("INVALID_REQUEST", judgement.sentence, { path: "/url", fix: judgement.fix });
}
