import { parseRegistryDate } from "./parse-date.ts";
import type { Registration } from "./registration.ts";

type Json = Record<string, unknown>;

/** Reads a domain of RDAP (RFC 9083); null when the text is none. Fields of the wrong shape count as missing. */
export function readRdapDomain(text: string): Registration | null {
  const domain = parseObject(text);
  if (domain === null || domain.objectClassName !== "domain" && domain.ldhName === undefined && domain.events === undefined) return null;
  const registrar = objects(domain.entities).find(({ roles }) => Array.isArray(roles) && roles.includes("registrar"));
  return {
    registrar: registrar ? (vcardText(registrar, "fn") ?? vcardText(registrar, "org")) : null,
    registrar_url: registrar ? (vcardText(registrar, "url") ?? linkOf(registrar)) : null,
    created_date: eventDate(domain, "registration"),
    updated_date: eventDate(domain, "last changed"),
    expiry_date: eventDate(domain, "expiration"),
    nameservers: objects(domain.nameservers).flatMap(({ ldhName }) => (typeof ldhName === "string" ? [ldhName.toLowerCase().replace(/\.$/, "")] : [])).slice(0, 32),
    status: Array.isArray(domain.status) ? domain.status.filter((each) => typeof each === "string").slice(0, 32) : [],
  };
}

export function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function eventDate(domain: Json, action: string): string | null {
  const event = objects(domain.events).find(({ eventAction }) => eventAction === action);
  return typeof event?.eventDate === "string" ? parseRegistryDate(event.eventDate) : null;
}

/** A property of a jCard (RFC 7095): `["vcard", [["fn", {}, "text", "Example Ltd"], …]]`. */
function vcardText(entity: Json, name: string): string | null {
  const card: unknown[] = Array.isArray(entity.vcardArray) && Array.isArray(entity.vcardArray[1]) ? entity.vcardArray[1] : [];
  const property = card.find((each): each is unknown[] => Array.isArray(each) && each[0] === name && typeof each[3] === "string" && each[3].trim() !== "");
  return property ? String(property[3]).trim().slice(0, 255) : null;
}

/** The registrar's own page, not its record in RDAP. */
function linkOf(entity: Json): string | null {
  const link = objects(entity.links).find(({ rel, href }) => rel === "about" && typeof href === "string");
  return typeof link?.href === "string" ? link.href.slice(0, 255) : null;
}
