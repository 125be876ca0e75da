import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { judgeUrl } from "../../platform/outbound/judge-url.ts";
import { outboundRules, type OutboundConfig } from "../../platform/outbound/rules.ts";

export type UrlRules = OutboundConfig & Pick<Config, "WEBHOOK_ALLOW_HTTP">;

/**
 * INVALID_REQUEST, with what to do about it, for a URL that no delivery would ever go to. What its name resolves to
 * is judged at each delivery.
 */
export function checkWebhookUrl(url: string, config: UrlRules): void {
  const judgement = judgeUrl(url, { allowHttp: config.WEBHOOK_ALLOW_HTTP, ...outboundRules(config) });
  if (!judgement.ok) throw new Failure("INVALID_REQUEST", judgement.sentence, { path: "/url", fix: judgement.fix });
}
