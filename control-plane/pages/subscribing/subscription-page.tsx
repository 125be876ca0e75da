import type { ComponentChildren } from "preact";
import { fill, messagesOf } from "../../../domain/subscribers/messages/all.ts";
import { Layout } from "../plain/layout.tsx";

interface SubscriptionPageProps {
  page: { name: string; slug: string; language: string; hideBranding: boolean };
  styles: string;
  title: string;
  message: string;
  children?: ComponentChildren;
}

/** What a visitor sees who subscribes, confirms or leaves: one message in the page's language, perhaps a form, and the way back. */
export function SubscriptionPage({ page: { name, slug, language, hideBranding }, styles, title, message, children }: SubscriptionPageProps) {
  return (
    <Layout title={`${title} · ${name}`} styles={styles} language={language} branding={!hideBranding}>
      <h1>{title}</h1>
      <p class="message">{message}</p>
      {children}
      <p>
        <a href={`/pages/${slug}`}>{fill(messagesOf(language).back, { page: name })}</a>
      </p>
    </Layout>
  );
}

/** A form of one button. */
export function OneButton({ action, label }: { action: string; label: string }) {
  return (
    <form class="form" method="post" action={action}>
      <button type="submit">{label}</button>
    </form>
  );
}
