import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { askToSubscribe } from "../../../domain/subscribers/ask.ts";
import { confirmSubscription, findConfirmation, type Subscription } from "../../../domain/subscribers/confirm.ts";
import { findSubscribablePage, listChoices, type SubscribablePage } from "../../../domain/subscribers/find-page.ts";
import { findWanted } from "../../../domain/subscribers/find-wanted.ts";
import { fill, messagesOf } from "../../../domain/subscribers/messages/all.ts";
import { chooseServices, findOwnSubscription, unsubscribe } from "../../../domain/subscribers/own.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { Failure, FAILURE_STATUS } from "../../../platform/failures.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { makeRateLimit } from "../../../platform/rate-limit.ts";
import { countedAddress } from "../../../platform/client-address.ts";
import { failureOf } from "../../failure-reply.ts";
import { isForm, listOf, readSubscribe, takeForms } from "./read-subscribe.ts";
import { ServiceChoices } from "./subscribe-form.tsx";
import { OneButton, SubscriptionPage } from "./subscription-page.tsx";
import { visitorOf } from "../access/visitor-of.ts";

/** No page has another slug, and PostgreSQL takes no text with NUL: such addresses are not even looked for. */
const SUBSCRIBERS = "/pages/:slug(^[a-z0-9-]{1,63}$)/subscribers";

interface SubscriptionsNeeds {
  database: Database;
  clock: Clock;
  config: Config;
  addressOf(request: FastifyRequest): string;
  send(reply: FastifyReply, status: number, page: VNode): FastifyReply;
  answerNotFound(reply: FastifyReply): FastifyReply;
  answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  styles: string;
}

interface PageRequest {
  Params: { slug: string };
  Querystring: Record<string, unknown>;
}

/**
 * What visitors of a page do to hear of it: subscribe, confirm, choose services, leave. Links of mails lead to a button, because
 * scanners of mail follow links; the button, and the one click of a mail program (RFC 8058), are POSTs.
 */
export async function serveSubscriptions(app: FastifyInstance, needs: SubscriptionsNeeds): Promise<void> {
  await app.register(async (scope) => {
    takeForms(scope);
    // Addresses here hold tokens, and pages show whose they are.
    scope.addHook("onSend", async (_request, reply) => void reply.header("Cache-Control", "no-store").header("X-Robots-Tag", "noindex").header("Referrer-Policy", "no-referrer"));
    scope.post<PageRequest>(SUBSCRIBERS, makeSubscribe(needs));
    await scope.register(async (links) => {
      links.setErrorHandler(needs.answerFailure);
      serveConfirmation(links, needs);
      serveOwn(links, needs);
    });
  });
}

function makeSubscribe(needs: SubscriptionsNeeds) {
  const { database, clock, config, addressOf, send, answerNotFound, styles } = needs;
  const findPage = makeFindPage(needs);
  const rateLimit = makeRateLimit({ clock });

  function count(request: FastifyRequest): void {
    const { allowed, limit, retryAfterSeconds } = rateLimit.take(countedAddress(addressOf(request)), config.RATE_LIMIT_SUBSCRIBE);
    if (!allowed) throw new Failure("RATE_LIMITED", `More than ${limit} subscriptions in this minute.`, { retryAfter: retryAfterSeconds, fix: `Wait ${retryAfterSeconds} s.` });
  }

  async function ask({ page, services }: SubscribablePage, body: unknown): Promise<string> {
    const { kind, address, services: wanted } = readSubscribe(body, config);
    await askToSubscribe(database, { page, kind, address, services: findWanted(services, wanted), publicUrl: publicUrl(config), at: new Date(clock.now()) });
    return kind === "email" ? "If this address is not confirmed yet, a mail with a link is on its way." : "If this URL is not confirmed yet, a request with a link is on its way.";
  }

  return async (request: FastifyRequest<PageRequest>, reply: FastifyReply): Promise<FastifyReply> => {
    const { body } = request;
    const form = isForm(request);
    if (!form) count(request);
    const found = await findPage(request);
    if (!found) {
      if (form) return answerNotFound(reply);
      throw new Failure("NOT_FOUND", "No such status page.");
    }
    if (!form) return reply.code(202).send({ success: true, message: await ask(found, body) });
    const words = messagesOf(found.page.language);
    const show = (status: number, title: string, message: string) => send(reply, status, <SubscriptionPage page={found.page} styles={styles} title={title} message={message} />);
    try {
      count(request);
      await ask(found, body);
      return show(202, words.sent, words.sentText);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === "INTERNAL") throw error;
      if (failure.details.retryAfter !== undefined) void reply.header("Retry-After", failure.details.retryAfter);
      return show(FAILURE_STATUS[failure.code], words.failed, failure.message);
    }
  };
}

/** The page that a request is about, if it is shown to its visitor. */
function makeFindPage({ database, clock, addressOf }: SubscriptionsNeeds) {
  return (request: FastifyRequest<PageRequest>) => findSubscribablePage(database, request.params.slug, (page) => visitorOf(request, page, { addressOf, now: clock.now() }));
}

/** A link that leads nowhere any more says no more of whom it was for. */
function makeAnswerDead(needs: SubscriptionsNeeds) {
  const { send, answerNotFound, styles } = needs;
  const findPage = makeFindPage(needs);
  return async (request: FastifyRequest<PageRequest>, reply: FastifyReply): Promise<FastifyReply> => {
    const found = await findPage(request);
    if (!found) return answerNotFound(reply);
    const words = messagesOf(found.page.language);
    return send(reply, 404, <SubscriptionPage page={found.page} styles={styles} title={words.failed} message={words.invalidLink} />);
  };
}

/** Where the link of a confirmation leads. */
function serveConfirmation(scope: FastifyInstance, needs: SubscriptionsNeeds): void {
  const { database, clock, send, styles } = needs;
  const answerDead = makeAnswerDead(needs);
  const at = () => new Date(clock.now());

  scope.get<PageRequest>(`${SUBSCRIBERS}/confirm`, async (request, reply) => {
    const token = tokenOf(request);
    const found = await findConfirmation(database, request.params.slug, token, at());
    if (!found) return answerDead(request, reply);
    const words = messagesOf(found.page.language);
    return send(reply, 200, (
      <SubscriptionPage page={found.page} styles={styles} title={words.confirmButton} message={fill(words.confirmAsk, namesOf(found))}>
        <OneButton action={addressOfForm("confirm", found, token)} label={words.confirmButton} />
      </SubscriptionPage>
    ));
  });

  scope.post<PageRequest>(`${SUBSCRIBERS}/confirm`, async (request, reply) => {
    const found = await confirmSubscription(database, request.params.slug, tokenOf(request), at());
    if (!found) return answerDead(request, reply);
    const words = messagesOf(found.page.language);
    return send(reply, 200, <SubscriptionPage page={found.page} styles={styles} title={words.subscribe} message={fill(words.confirmed, namesOf(found))} />);
  });
}

/** Where a subscriber's own link leads: to leave, and to choose services. */
function serveOwn(scope: FastifyInstance, needs: SubscriptionsNeeds): void {
  const { database, clock, send, styles } = needs;
  const answerDead = makeAnswerDead(needs);
  const at = () => new Date(clock.now());

  scope.get<PageRequest>(`${SUBSCRIBERS}/unsubscribe`, async (request, reply) => {
    const token = tokenOf(request);
    const found = await findOwnSubscription(database, request.params.slug, token);
    if (!found) return answerDead(request, reply);
    const { page, subscriber } = found;
    const words = messagesOf(page.language);
    const left = subscriber.state === "unsubscribed";
    const services = subscriber.state === "active" ? await listChoices(database, page.id) : [];
    return send(reply, 200, (
      <SubscriptionPage page={page} styles={styles} title={words.leaveButton} message={fill(left ? words.left : words.leaveAsk, namesOf(found))}>
        {!left && <OneButton action={addressOfForm("unsubscribe", found, token)} label={words.leaveButton} />}
        {services.length > 1 && (
          <form class="card form" method="post" action={addressOfForm("services", found, token)}>
            <h2>{words.services}</h2>
            <ServiceChoices language={page.language} services={services} chosen={subscriber.services} />
            <button type="submit">{words.saveButton}</button>
          </form>
        )}
      </SubscriptionPage>
    ));
  });

  scope.post<PageRequest>(`${SUBSCRIBERS}/unsubscribe`, async (request, reply) => {
    const found = await unsubscribe(database, request.params.slug, tokenOf(request), at());
    if (!found) return answerDead(request, reply);
    const words = messagesOf(found.page.language);
    return send(reply, 200, <SubscriptionPage page={found.page} styles={styles} title={words.leaveButton} message={fill(words.left, namesOf(found))} />);
  });

  scope.post<PageRequest>(`${SUBSCRIBERS}/services`, async (request, reply) => {
    const token = tokenOf(request);
    const own = await findOwnSubscription(database, request.params.slug, token);
    if (!own) return answerDead(request, reply);
    const services = findWanted(await listChoices(database, own.page.id), listOf(request.body, "services"));
    const found = await chooseServices(database, request.params.slug, token, { services, at: at() });
    if (!found) return answerDead(request, reply);
    const words = messagesOf(found.page.language);
    return send(reply, 200, <SubscriptionPage page={found.page} styles={styles} title={words.services} message={words.saved} />);
  });
}

function tokenOf({ query }: FastifyRequest<PageRequest>): string {
  return typeof query.token === "string" ? query.token : "";
}

function addressOfForm(name: "confirm" | "unsubscribe" | "services", { page }: Subscription, token: string): string {
  return `/pages/${page.slug}/subscribers/${name}?token=${encodeURIComponent(token)}`;
}

function namesOf({ page, subscriber }: Subscription): { page: string; address: string } {
  return { page: page.name, address: subscriber.address };
}
