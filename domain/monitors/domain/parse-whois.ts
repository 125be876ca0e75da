import { parseRegistryDate } from "./parse-date.ts";
import type { Registration } from "./registration.ts";
import { readWhoisLines, type WhoisEntry } from "./whois-lines.ts";

/** What a WHOIS server's text says. */
type WhoisAnswer =
  | { kind: "found"; registration: Registration }
  | { kind: "not_registered" }
  /** The server asks to be left alone for now. */
  | { kind: "too_many" }
  | { kind: "unreadable" };

/** How registries name what they tell, in lower case, without the dots that fill up a line. */
const NAMES = {
  expiry: `registry expiry date|registrar registration expiration date|registration expiration date|expiry date|expiration date|expiration time|expiration|expires|expires on|expires at|expire|expire date|expire-date
    |expiry|exp date|paid-till|paid till|renewal date|renewal|valid until|validity|valid-date|domain expires|domain expiration date|domain expiry date|record expires on|record expires|expired date|registry fee due on|有効期限|state|状態
    |data de expiração|data de expiração / expiration date|fecha de vencimiento|fecha de expiracion|到期时间|date d'expiration|data wygaśnięcia`,
  created: `creation date|created|created on|created at|created date|date created|create date|domain created|registered|registered on|registered date|registration date|registration time|registration|domain registration date|domain record activated
    |record created on|record created|domain name commencement date|assigned|activated|commencement date|登録年月日|登録日|data de registo|data de registo / creation date|fecha de creación|fecha de registro|date de création`,
  updated: `updated date|updated|updated on|last updated|last updated on|last updated date|last update|last-update|last-updated|last modified|last modified on|modified|modified date|changed|domain record last updated|record last updated on|最終更新`,
  registrar: "registrar|registrar name|sponsoring registrar|current registrar|registrar_name|registration service provider|authorized agency|registrar organization|registrar handle|registrar company",
  registrarUrl: "registrar url|registrar website|registrar web|registrar-url|referral url",
  nameservers: "name server|nameserver|name servers|nameservers|nserver|domain nameservers|domain servers|domain servers in listed order|host name|hostname|dns servers|ns|nameserver information|name server information|name servers information|ネームサーバ",
  status: "domain status|status|eppstatus|registration status|state|状態|flags",
} as const;

const NAME_SETS = Object.fromEntries(Object.entries(NAMES).map(([field, names]) => [field, new Set(names.split("|").map((name) => name.trim()))])) as Record<keyof typeof NAMES, Set<string>>;

/** Names within the registrar's own paragraph. */
const WITHIN_REGISTRAR = { name: new Set(["organization", "organization name", "name", "registrar"]), url: new Set(["url", "web", "website", "www"]) };

const NOT_REGISTERED = [
  /^\W*no match\b/im,
  /\bno match for\b/i,
  /\bnot? (?:data|entries|object|objects|record|records|domain|matching record)s? (?:was |were )?found\b/i,
  /\bnot found\b/i,
  /\bnothing found\b/i,
  /\bno such domain\b/i,
  /\bno information available\b/i,
  /\b(?:domain )?status\s*:\s*(?:free|available|not registered|unassigned)\b/i,
  /\bis (?:free|available(?: for (?:purchase|registration))?)\b/i,
  /\bdomain unknown\b/i,
  /\b(?:does not|doesn't) exist\b/i,
  /\b(?:is|has|was) not (?:been )?(?:yet )?registered\b/i,
  /\bnot registered\b/i,
  /\bunable to find\b/i,
  /\bno se encontr[oó]\b/i,
  /\bno data was found\b/i,
];

const TOO_MANY = /\b(?:limit|quota|rate)\b.{0,40}\bexceeded\b|\bexceeded\b.{0,60}\b(?:limit|quota|queries|rate)\b|\btoo many (?:requests|queries|connections)\b|\bblack-?listed\b|\btry again (?:later|in)\b|\bexcessive quer(?:y|ies)\b/i;

/** Reads what a WHOIS server answers, whichever registry's form it has. */
export function parseWhois(text: string): WhoisAnswer {
  const entries = readWhoisLines(text);
  const registration: Registration = {
    registrar: registrarOf(entries),
    registrar_url: registrarUrlOf(entries),
    created_date: dateOf(entries, "created"),
    updated_date: dateOf(entries, "updated"),
    expiry_date: dateOf(entries, "expiry"),
    nameservers: nameserversOf(entries),
    status: statusOf(entries),
  };
  if (registration.expiry_date ?? registration.created_date ?? registration.nameservers[0]) return { kind: "found", registration };
  if (TOO_MANY.test(text)) return { kind: "too_many" };
  if (NOT_REGISTERED.some((pattern) => pattern.test(text))) return { kind: "not_registered" };
  return registration.registrar === null ? { kind: "unreadable" } : { kind: "found", registration };
}

/** The server that a text refers to, `host` or `host:port`: `refer` of IANA, else the registrar's. */
export function whoisReferral(text: string): string | null {
  const found = /^[ \t]*(?:refer|whois|whois server|registrar whois server|registrar whois)[ \t]*:[ \t]*(?:r?whois:\/\/)?([a-z0-9.:-]+)/im.exec(text);
  return found ? found[1]!.toLowerCase().replace(/\.$/, "") : null;
}

function valuesOf(entries: readonly WhoisEntry[], field: keyof typeof NAMES): string[] {
  return entries.filter(({ key, value }) => value !== "" && NAME_SETS[field].has(key)).map(({ value }) => value);
}

/** The first that is a date: the domain stands before its contacts and hosts. */
function dateOf(entries: readonly WhoisEntry[], field: "expiry" | "created" | "updated"): string | null {
  for (const value of valuesOf(entries, field)) {
    // `Connected (2026/05/31)`
    const date = parseRegistryDate(value) ?? parseRegistryDate(/\((\d{4}\/\d{2}\/\d{2})\)/.exec(value)?.[1] ?? "");
    if (date !== null) return date;
  }
  return null;
}

function registrarOf(entries: readonly WhoisEntry[]): string | null {
  const own = (entry: WhoisEntry) => NAME_SETS.registrar.has(entry.key) || (inRegistrar(entry) && WITHIN_REGISTRAR.name.has(entry.key));
  const value = entries.find((entry) => entry.value !== "" && own(entry))?.value;
  if (value === undefined) return null;
  // `Example Ltd [Tag = EX]`, `Example (https://example.com)`
  return value.replace(/\s*\[tag = .*\]$/i, "").replace(/\s*\(\s*https?:\/\/\S*\s*\)$/i, "").slice(0, 255);
}

function registrarUrlOf(entries: readonly WhoisEntry[]): string | null {
  const named = valuesOf(entries, "registrarUrl")[0] ?? entries.find((entry) => inRegistrar(entry) && entry.value !== "" && WITHIN_REGISTRAR.url.has(entry.key))?.value;
  return named ?? /\(\s*(https?:\/\/\S+?)\s*\)$/.exec(valuesOf(entries, "registrar")[0] ?? "")?.[1] ?? null;
}

function inRegistrar({ section }: WhoisEntry): boolean {
  return section !== null && NAME_SETS.registrar.has(section);
}

function nameserversOf(entries: readonly WhoisEntry[]): string[] {
  const names = valuesOf(entries, "nameservers").flatMap((value) => value.toLowerCase().split(/[\s,]+/).map((word) => word.replace(/\.$/, "")));
  return [...new Set(names.filter((name) => /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]+$/.test(name)))].slice(0, 32);
}

function statusOf(entries: readonly WhoisEntry[]): string[] {
  const values = valuesOf(entries, "status").map((value) => value.replace(/\s*\(?https?:\/\/\S+$/, "").trim().slice(0, 100));
  return [...new Set(values.filter(Boolean))].slice(0, 32);
}
