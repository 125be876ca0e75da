import { isIP } from "node:net";
import { judgeAddress, type AddressRange, type Judgement } from "./judge-address.ts";
import { judgePort, type OutboundRules } from "./rules.ts";

/**
 * Whether a URL may be called, as far as its text tells: its scheme, no credentials, its port, and no literal or well-known
 * local address. A name's addresses are judged when it is connected to, since they can change at any time.
 */
export function judgeUrl(text: string, { allowHttp, ...rules }: OutboundRules & { allowHttp: boolean }): Judgement {
  const url = URL.parse(text);
  if (!url) return { ok: false, sentence: "This is not a valid URL.", fix: "Use an absolute URL such as https://hooks.example.com/pharos." };
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) {
    const fix = url.protocol === "http:" ? "Use an https:// URL. An operator of this Pharos can allow plain http with WEBHOOK_ALLOW_HTTP=true." : "Use an https:// URL.";
    return { ok: false, sentence: `The URL must use https, not ${url.protocol.slice(0, -1)}.`, fix };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, sentence: "The URL must not hold a user name or a password.", fix: "Send credentials in a header instead." };
  }
  const port = judgePort(portOf(url), rules);
  return port.ok ? judgeHost(hostOf(url), rules.allow) : port;
}

/** A URL's host for connecting: without the brackets of IPv6 and without the dot that ends a full name. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** The port that a URL's request goes to. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

function judgeHost(host: string, allow: readonly AddressRange[]): Judgement {
  if (host === "") return { ok: false, sentence: "The URL names no host.", fix: "Use a URL such as https://hooks.example.com/pharos." };
  if (isIP(host) !== 0) return judgeAddress(host, allow);
  if (!/(^|\.)localhost$/.test(host)) return { ok: true };
  const local = judgeAddress("127.0.0.1", allow);
  return local.ok || judgeAddress("::1", allow).ok ? { ok: true } : { ...local, sentence: `The name ${host} means the machine of this Pharos itself, which is not public.` };
}
