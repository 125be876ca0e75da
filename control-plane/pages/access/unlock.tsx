import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import type { StatusPageRow } from "../../../domain/status-pages/columns.ts";
import { signPass } from "../../../domain/status-pages/page-pass.ts";
import { makeTryPassword, type TryPassword } from "../../../domain/status-pages/try-password.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { Failure } from "../../../platform/failures.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { makeRateLimit } from "../../../platform/rate-limit.ts";
import { countedAddress } from "../../../platform/client-address.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { cameByHttps } from "./came-by-https.ts";
import { Layout } from "../plain/layout.tsx";
import { fillIn, pageLanguage, pageMessages } from "../messages/all.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";
import { passCookie } from "./pass-cookie.ts";
import { passwordOf, takePasswords } from "./read-password.ts";

/** Attempts a minute on one page over all addresses, of which somebody may have many. */
const MAX_ATTEMPTS_ON_PAGE = 300;

interface UnlockPageProps {
  language: PageLanguage;
  styles: string;
  /** Where the password is sent. */
  action: string;
  hint: string | null;
  /** Why the last attempt did not work; null before the first. */
  error: string | null;
}

/** Asks for a page's password. Of the page behind it nothing is told but its hint and its language. */
export function UnlockPage({ language, styles, action, hint, error }: UnlockPageProps) {
  const words = pageMessages(language);
  const described = [hint && "password-hint", error !== null && "password-error"].filter(Boolean).join(" ");
  return (
    <Layout title={words.password_title} styles={styles} language={language} branding={false}>
      <h1>{words.password_title}</h1>
      <form class="form" method="post" action={action}>
        <label for="password">{words.password}</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required aria-describedby={described || undefined} aria-invalid={error === null ? undefined : true} />
        {hint && (
          <p id="password-hint" class="quiet">
            {fillIn(words.password_hint, { hint })}
          </p>
        )}
        {error !== null && (
          <p id="password-error" class="error" role="alert">
            {error}
          </p>
        )}
        <button type="submit">{words.password_button}</button>
      </form>
    </Layout>
  );
}

interface UnlockNeeds {
  clock: Clock;
  config: Config;
  /** The client's, past proxies. */
  addressOf(request: FastifyRequest): string;
  send(reply: FastifyReply, status: number, page: VNode): FastifyReply;
  styles: string;
  /** One for the whole process unless given. */
  tryPassword?: TryPassword;
}

export interface LockedPage {
  page: StatusPageRow;
  /** `/pages/{slug}`, or empty below a custom domain. */
  base: string;
  /** Where a password is sent. */
  action: string;
  /** In which it asks; the page's own unless given. */
  language?: PageLanguage;
}

/** Makes a scope read passwords, and keeps its answers to those who asked. */
export function prepareUnlock(scope: FastifyInstance): void {
  takePasswords(scope);
  scope.addHook("onSend", async (_request, reply) => void reply.header("Cache-Control", "no-store").header("X-Robots-Tag", "noindex").header("Referrer-Policy", "no-referrer"));
}

/** Answers an attempt at a page's password in a scope that `prepareUnlock` prepared: with a pass and the way to the page, or with the question again. */
export function makeUnlock({ clock, config, addressOf, send, styles, tryPassword = makeTryPassword() }: UnlockNeeds) {
  const ofAddress = makeRateLimit({ clock });
  const ofPage = makeRateLimit({ clock });

  /** Seconds that an attempt has to wait; 0 for none. What one address is refused does not use up what others have. */
  function count(request: FastifyRequest, { id }: StatusPageRow): number {
    const own = ofAddress.take(`${id} ${countedAddress(addressOf(request))}`, config.RATE_LIMIT_PAGE_PASSWORD);
    const last = own.allowed ? ofPage.take(id, MAX_ATTEMPTS_ON_PAGE) : own;
    return last.allowed ? 0 : last.retryAfterSeconds;
  }

  return async (request: FastifyRequest, reply: FastifyReply, { page, base, action, language = pageLanguage(page.language) }: LockedPage): Promise<FastifyReply> => {
    const words = pageMessages(language);
    const hint = page.visibility === "password" ? page.passwordHint : null;
    const ask = (status: number, error: string) => send(reply, status, <UnlockPage language={language} styles={styles} action={action} hint={hint} error={error} />);
    const askLater = (status: number, seconds: number) => {
      void reply.header("Retry-After", seconds);
      return ask(status, fillIn(words.password_wait, { seconds: String(seconds) }));
    };

    const wait = count(request, page);
    if (wait > 0) return askLater(429, wait);
    try {
      if (!(await tryPassword(page, passwordOf(request)))) return ask(401, words.password_wrong);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "UNAVAILABLE") throw error;
      return askLater(503, error.details.retryAfter ?? 1);
    }
    const pass = signPass(page, clock.now());
    const secure = cameByHttps(request.headers, publicUrl(config));
    return reply.header("Set-Cookie", passCookie({ page, pass, base, secure })).redirect(pageAddresses({ origin: "", base, access: null }).home, 303);
  };
}
