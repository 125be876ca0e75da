import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { Failure } from "../../../platform/failures.ts";

const LONGEST = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** A host name as it is looked up: in ASCII, in lower case, without the dot at its end. Or an IP address. INVALID_REQUEST with what to write in its place. */
export function readHost(given: string): string {
  const text = given.trim();
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (isIP(bare) !== 0) return bare.toLowerCase();
  const refused = refusalOf(text);
  if (refused) throw refused;
  const ascii = domainToASCII(text).replace(/\.$/, "");
  const labels = ascii.split(".");
  // Numbers at the end make an address of what was no address: 1.2.3 is 1.2.0.3 for a resolver.
  const isName = ascii !== "" && ascii.length <= LONGEST && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!) && isIP(ascii) === 0;
  if (!isName) throw invalid(`"${text}" is not a host name.`, "Write a name such as shop.example.com.");
  return ascii;
}

/** For what people write in place of a host name. */
function refusalOf(text: string): Failure | null {
  if (text.includes("://") || /[/?#@]/.test(text)) {
    const host = URL.parse(text.includes("://") ? text : `https://${text}`)?.hostname;
    const without = text.includes("://") ? "protocol" : "path or user";
    return invalid(`The domain must be a host name without ${without}.`, host ? `Write "${host}".` : 'Write a name such as "shop.example.com".');
  }
  const [, name, port] = /^([^:]+):(\d+)$/.exec(text) ?? [];
  return name === undefined ? null : invalid("The domain must be a host name without port.", `Write "${name}", and the port in its own field: "port": ${port}.`);
}

function invalid(sentence: string, fix: string): Failure {
  return new Failure("INVALID_REQUEST", sentence, { path: "/domain", fix });
}
