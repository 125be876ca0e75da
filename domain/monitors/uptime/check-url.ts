import { Failure } from "../../../platform/failures.ts";
import { judgeUrl } from "../../../platform/outbound/judge-url.ts";
import { outboundRules, type OutboundConfig } from "../../../platform/outbound/rules.ts";

export type UrlRules = OutboundConfig;

/** INVALID_REQUEST for a URL that no check would ever go to. What its name resolves to is judged at each check. */
export function checkMonitorUrl(url: string, config: UrlRules): void {
  const judgement = judgeUrl(url, { allowHttp: true, ...outboundRules(config) });
  if (!judgement.ok) throw new Failure("INVALID_REQUEST", judgement.sentence, { path: "/url", fix: judgement.fix });
}
