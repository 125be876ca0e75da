import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import type { StatusPageRow } from "../../../domain/status-pages/columns.ts";
import { makeGuardedTry } from "../../../domain/status-pages/guard-password.ts";
import { signPass } from "../../../domain/status-pages/page-pass.ts";
import { makeTryPassword, type TryPassword } from "../../../domain/status-pages/try-password.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import { failureOf } from "../../failure-reply.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { cameByHttps } from "./came-by-https.ts";
import { Layout } from "../plain/layout.tsx";
import { fillIn, pageLanguage, pageMessages } from "../messages/all.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";
import { passCookie } from "./pass-cookie.ts";
import { passwordOf, takePasswords } from "./read-password.ts";

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
  database: Database;
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
export function makeUnlock({ database, clock, config, addressOf, send, styles, tryPassword = makeTryPassword() }: UnlockNeeds) {
  const guardedTry = makeGuardedTry({ database, clock, config, tryPassword });

  return async (request: FastifyRequest, reply: FastifyReply, { page, base, action, language = pageLanguage(page.language) }: LockedPage): Promise<FastifyReply> => {
    const words = pageMessages(language);
    const hint = page.visibility === "password" ? page.passwordHint : null;
    const ask = (status: number, error: string) => send(reply, status, <UnlockPage language={language} styles={styles} action={action} hint={hint} error={error} />);
    const askLater = (status: number, seconds: number) => {
      void reply.header("Retry-After", seconds);
      return ask(status, fillIn(words.password_wait, { seconds: String(seconds) }));
    };

    try {
      const tried = await guardedTry(page, addressOf(request), passwordOf(request));
      if (tried.kind === "later") return askLater(429, tried.seconds);
      if (tried.kind === "wrong") return ask(401, words.password_wrong);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code !== "UNAVAILABLE") throw error;
      return askLater(503, failure.details.retryAfter ?? 1);
    }
    const pass = signPass(page, clock.now());
    const secure = cameByHttps(request.headers, publicUrl(config));
    return reply.header("Set-Cookie", passCookie({ page, pass, base, secure })).redirect(pageAddresses({ origin: "", base, access: null }).home, 303);
  };
}
