import { isRightToLeft, messagesOf } from "../../../domain/subscribers/messages/all.ts";

/** A page with more services than this offers no choice of them in a form; the API does. */
const MOST_CHOICES = 100;

interface Choice {
  id: string;
  name: string;
}

interface SubscribeFormProps {
  /** Where it is sent. */
  action: string;
  language: string;
  services: readonly Choice[];
}

/** Asks a visitor for a mail address, in the page's language. Needs no script. */
export function SubscribeForm({ action, language, services }: SubscribeFormProps) {
  const words = messagesOf(language);
  return (
    <section lang={language} dir={isRightToLeft(language) ? "rtl" : undefined} aria-labelledby="subscribe">
      <h2 id="subscribe">{words.subscribe}</h2>
      <form class="card form" method="post" action={action}>
        <label for="subscribe-email">{words.email}</label>
        <input id="subscribe-email" name="email" type="email" autocomplete="email" maxlength={254} required />
        {services.length > 1 && services.length <= MOST_CHOICES && (
          <details>
            <summary>{words.services}</summary>
            <ServiceChoices language={language} services={services} chosen={[]} />
          </details>
        )}
        <button type="submit">{words.subscribeButton}</button>
      </form>
    </section>
  );
}

/** A box for each service. */
export function ServiceChoices({ language, services, chosen }: { language: string; services: readonly Choice[]; chosen: readonly string[] }) {
  const words = messagesOf(language);
  return (
    <fieldset>
      <legend class="quiet">{words.allServices}</legend>
      {services.map(({ id, name }) => (
        <label class="choice">
          <input type="checkbox" name="services" value={id} checked={chosen.includes(id)} /> <bdi class="name">{name}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
