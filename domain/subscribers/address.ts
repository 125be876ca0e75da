import { domainToASCII } from "node:url";

/** An address as it is kept. */
export interface SubscriberAddress {
  address: string;
  /** The same for all ways of writing it. */
  key: string;
  /** Who is behind it, whatever tag or path is used. */
  target: string;
}

/** From a mail address that has been judged to be one. Null when its domain is none. The part before the @ is its server's to read, so it is kept. */
export function mailAddress(text: string): SubscriberAddress | null {
  const at = text.lastIndexOf("@");
  const domain = domainToASCII(text.slice(at + 1));
  if (domain === "") return null;
  const local = text.slice(0, at);
  const plain = local.toLowerCase().replace(/\+.*$/, "");
  return { address: `${local}@${domain}`, key: `${local.toLowerCase()}@${domain}`, target: `${plain}@${domain}` };
}

/** From a URL that has been judged. */
export function webhookAddress(text: string): SubscriberAddress {
  const url = new URL(text);
  url.hash = "";
  return { address: url.href, key: url.href, target: url.host };
}
