import type { FastifyInstance, FastifyRequest } from "fastify";
import { mailAddress, webhookAddress, type SubscriberAddress } from "../../../domain/subscribers/address.ts";
import type { Config } from "../../../platform/config.ts";
import { Failure } from "../../../platform/failures.ts";
import { judgeUrl } from "../../../platform/outbound/judge-url.ts";
import { outboundRules } from "../../../platform/outbound/rules.ts";
import { Subscribe } from "../../../schemas/api/subscribers.ts";
import type { SubscriberKind } from "../../../schemas/vocabulary.ts";
import { explainIssues } from "../../explain-issue.ts";
import { parseBody, requireStorable } from "../../read-body.ts";

/** Hours after which somebody may look again whether mail works; there is no knowing. */
const NO_MAIL_RETRY_SECONDS = 3_600;

/** Bytes of a body: strangers send them, and each is parsed. The ids of a thousand services take less. */
const MOST_BYTES = 65_536;

/** Takes JSON, and forms as browsers send them, up to 64 KiB; of any other body nothing is made. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const bodyLimit = MOST_BYTES;
  scope.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit }, async (_request: FastifyRequest, bytes: Buffer) => parseBody(bytes));
  scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string", bodyLimit }, async (_request: FastifyRequest, text: string) => readForm(text));
  // One click of a mail program may come as multipart/form-data (RFC 8058, 3.1); what it holds is always the same.
  scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit }, async () => undefined);
}

/** What is wrong with a body that `takeForms` did not take, as whoever sent it is told; other errors as they are. */
export function explainBody(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") return error;
  const sentence = `A subscription's body is at most ${MOST_BYTES / 1024} KiB.`;
  return new Failure("PAYLOAD_TOO_LARGE", sentence, { fix: "Choose fewer services, or none for all of them." });
}

/** Whether it comes from a browser's form, and is answered with a page. */
export function isForm({ headers }: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");
}

function readForm(text: string): Record<string, unknown> {
  const form = new URLSearchParams(text);
  const fields = { ...(form.has("email") && { email: form.get("email")!.trim() }), services: form.getAll("services") };
  requireStorable(fields);
  return fields;
}

/** The texts of a form's field; none when the body is no form. */
export function listOf(body: unknown, name: string): string[] {
  const value: unknown = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

interface WantedSubscription {
  kind: SubscriberKind;
  address: SubscriberAddress;
  /** Names or ids, as they were given. */
  services: string[];
}

/**
 * Who wants to subscribe, from a body. INVALID_JSON, UNSUPPORTED_MEDIA_TYPE; INVALID_REQUEST for an address that is none and a URL that nothing
 * would be sent to; UNAVAILABLE for a mail address while no mail can be sent.
 */
export function readSubscribe(body: unknown, config: Pick<Config, "SMTP_URL" | "OUTBOUND_ALLOW" | "OUTBOUND_PORTS" | "WEBHOOK_ALLOW_HTTP">): WantedSubscription {
  if (body === undefined || body === null) throw new Failure("UNSUPPORTED_MEDIA_TYPE", "A JSON object or a form is required.", { fix: 'Send {"email": "ada@example.com"} with Content-Type: application/json.' });
  const parsed = Subscribe.safeParse(body, { reportInput: true });
  if (!parsed.success) throw explainIssues(Subscribe, parsed.error.issues);
  const { email, webhook_url: url, services } = parsed.data;
  if (email !== undefined) {
    const address = mailAddress(email);
    if (!address) throw new Failure("INVALID_REQUEST", "email must be a mail address such as ada@example.com.", { path: "/email" });
    if (config.SMTP_URL === null) throw new Failure("UNAVAILABLE", "This service sends no mail.", { retryAfter: NO_MAIL_RETRY_SECONDS, fix: "An operator must set SMTP_URL; a webhook_url can be subscribed meanwhile." });
    return { kind: "email", address, services };
  }
  const judgement = judgeUrl(url!, { allowHttp: config.WEBHOOK_ALLOW_HTTP, ...outboundRules(config) });
  if (!judgement.ok) throw new Failure("INVALID_REQUEST", judgement.sentence, { path: "/webhook_url", fix: judgement.fix });
  return { kind: "webhook", address: webhookAddress(url!), services };
}
