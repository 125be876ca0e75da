/** What a registry tells of a domain; dates as ISO 8601. Null where it does not. */
export interface Registration {
  registrar: string | null;
  registrar_url: string | null;
  created_date: string | null;
  updated_date: string | null;
  expiry_date: string | null;
  nameservers: string[];
  status: string[];
}

/** What a look-up came to; `error` is a sentence for the person who set the monitor. */
export type Lookup =
  /** `error` says why the expiry is missing; null when it is there. */
  | { kind: "found"; registration: Registration; error: string | null }
  | { kind: "not_registered"; error: string }
  /** `retryAfterMs` is how long the server wants to be left alone. */
  | { kind: "failed"; error: string; retryAfterMs: number | null };

/** Registries that publish no expiry at all. */
const WITHOUT_EXPIRY = new Set(["at", "be", "ch", "de", "eu", "hu", "li", "lv", "nl", "no"]);

export function publishesExpiry(domain: string): boolean {
  return !WITHOUT_EXPIRY.has(domain.slice(domain.lastIndexOf(".") + 1));
}

/** `found`, with the reason when the expiry is missing. */
export function foundRegistration(domain: string, told: Registration, server: string): Lookup {
  const registration = clean(told);
  if (registration.expiry_date !== null) return { kind: "found", registration, error: null };
  const top = domain.slice(domain.lastIndexOf(".") + 1);
  const error = publishesExpiry(domain)
    ? `${server} answered without the date on which ${domain} expires.`
    : `The registry of .${top} does not publish when registrations expire, so the expiry of ${domain} cannot be watched.`;
  return { kind: "found", registration, error };
}

/** Without what Postgres cannot hold (NUL, halves of surrogate pairs), and without links that run. */
function clean(told: Registration): Registration {
  const tidy = (text: string) => text.replace(/[\p{Cc}\p{Cs}]/gu, " ").trim();
  const url = told.registrar_url === null ? null : tidy(told.registrar_url);
  return {
    ...told,
    registrar: told.registrar === null ? null : tidy(told.registrar),
    registrar_url: url !== null && /^(?:https?:\/\/|[^:]+$)/i.test(url) ? url : null,
    nameservers: told.nameservers.map(tidy),
    status: told.status.map(tidy),
  };
}

export const notRegistered = (domain: string): Lookup => ({ kind: "not_registered", error: `${domain} is not registered.` });
