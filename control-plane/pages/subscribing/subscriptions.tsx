import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { askToSubscribe } from "../../../domain/subscribers/ask.ts";
import { confirmSubscription, findConfirmation, type Subscription } from "../../../domain/subscribers/confirm.ts";
import { findSubscribablePage, listChoices, type SubscribablePage } from "../../../domain/subscribers/find-page.ts";
import { findWanted } from "../../../domain/subscribers/find-wanted.ts";
import { fill, messagesOf } from "../../../domain/subscribers/messages/all.ts";
import { chooseServices, findOwnSubscription, unsubscribe } from "../../../domain/subscribers/own.ts";
import { clientNetwork } from "../../../platform/client-address.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { Failure, FAILURE_STATUS } from "../../../platform/failures.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { makeRateLimit } from "../../../platform/rate-limit.ts";
import { failureOf } from "../../failure-reply.ts";
import { explainBody, isForm, listOf, readSubscribe, takeForms } from "./read-subscribe.ts";
import { ServiceChoices } from "./subscribe-form.tsx";
import { OneButton, SubscriptionPage } from "./subscription-page.tsx";
import type { makeViewLimit } from "../visits/view-limit.ts";
import { visitorOf } from "../access/visitor-of.ts";

/** No page has another slug, and PostgreSQL takes no text with NUL: such addresses are not even looked for. */
const SUBSCRIBERS = "/pages/:slug(^[a-z0-9-]{1,63}$)/subscribers";

interface SubscriptionsNeeds {
  database: Database;
  clock: Clock;
  config: Config;
  addressOf(request: FastifyRequest): string;
  /** An onRequest hook. */
  limitViews: ReturnType<typeof makeViewLimit>;
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
    // What is thrown here goes on to the handler of all.
    scope.setErrorHandler((error) => {
      throw explainBody(error);
    });
    scope.addHook("onRequest", needs.limitViews);
    // Addresses here hold tokens, and pages show whose they are.
    scope.addHook("onSend", async (_request, reply) => void reply.header("Cache-Control", "no-store").header("X-Robots-Tag", "noindex").header("Referrer-Policy", "no-referrer"));
    const { limit, subscribe } = makeSubscribe(needs);
    scope.post<PageRequest>(SUBSCRIBERS, { onRequest: limit }, subscribe);
    await scope.register(async (links) => {
      links.setErrorHandler((error, request, reply) => {
        if (explainBody(error) !== error) throw error;
        return needs.answerFailure(error, request, reply);
      });
      serveConfirmation(links, needs);
      serveOwn(links, needs);
    });
  });
}

/** How a page is subscribed to, and the onRequest hook that judges whether its client may: before a body is read. */
function makeSubscribe(needs: SubscriptionsNeeds) {
  const { database, clock, config, addressOf, send, answerNotFound, styles } = needs;
  const findPage = makeFindPage(needs);
  const rateLimit = makeRateLimit({ clock });

  /** Why the client may not subscribe in this minute; null when it may. */
  function refusal(request: FastifyRequest): Failure | null {
    const { allowed, limit, retryAfterSeconds } = rateLimit.take(clientNetwork(addressOf(request), 64), config.RATE_LIMIT_SUBSCRIBE);
    return allowed ? null : new Failure("RATE_LIMITED", `More than ${limit} subscriptions in this minute.`, { retryAfter: retryAfterSeconds, fix: `Wait ${retryAfterSeconds} s.` });
  }

  function show(reply: FastifyReply, { page }: SubscribablePage, told: { status: number; title: string; message: string }): FastifyReply {
    const { status, title, message } = told;
    return send(reply, status, <SubscriptionPage page={page} styles={styles} title={title} message={message} />);
  }

  function showFailure(reply: FastifyReply, found: SubscribablePage, { code, details, message }: Failure): FastifyReply {
    if (details.retryAfter !== undefined) void reply.header("Retry-After", details.retryAfter);
    return show(reply, found, { status: FAILURE_STATUS[code], title: messagesOf(found.page.language).failed, message });
  }

  async function limit(request: FastifyRequest<PageRequest>, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const failure = refusal(request);
    if (!failure) return undefined;
    if (!isForm(request)) throw failure;
    const found = await findPage(request);
    return found ? showFailure(reply, found, failure) : answerNotFound(reply);
  }

  async function ask({ page, services }: SubscribablePage, { body, client }: { body: unknown; client: string }): Promise<string> {
    const { kind, address, services: wanted } = readSubscribe(body, config);
    await askToSubscribe(database, { page, kind, address, services: findWanted(services, wanted), client, publicUrl: publicUrl(config), at: new Date(clock.now()) });
    return kind === "email" ? "If this address is not confirmed yet, a mail with a link is on its way." : "If this URL is not confirmed yet, a request with a link is on its way.";
  }

  async function subscribe(request: FastifyRequest<PageRequest>, reply: FastifyReply): Promise<FastifyReply> {
    const asked = { body: request.body, client: addressOf(request) };
    const form = isForm(request);
    const found = await findPage(request);
    if (!found) {
      if (form) return answerNotFound(reply);
      throw new Failure("NOT_FOUND", "No such status page.");
    }
    if (!form) return reply.code(202).send({ success: true, message: await ask(found, asked) });
    try {
      await ask(found, asked);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === "INTERNAL") throw error;
      return showFailure(reply, found, failure);
    }
    const { sent, sentText } = messagesOf(found.page.language);
    return show(reply, found, { status: 202, title: sent, message: sentText });
  }

  return { limit, subscribe };
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
    const token = tokenOf(request);
    const found = await findConfirmation(database, request.params.slug, token, at());
    if (!found) return answerDead(request, reply);
    const { page } = found;
    const words = messagesOf(page.language);
    try {
      const confirmed = await confirmSubscription(database, found, token, at());
      if (!confirmed) return answerDead(request, reply);
      return send(reply, 200, <SubscriptionPage page={page} styles={styles} title={words.subscribe} message={fill(words.confirmed, namesOf(confirmed))} />);
    } catch (error) {
      const { code, message } = failureOf(error);
      if (code !== "PLAN_LIMIT") throw error;
      return send(reply, FAILURE_STATUS[code], <SubscriptionPage page={page} styles={styles} title={words.failed} message={message} />);
    }
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
