import sanitizeHtml from "sanitize-html";
import { remember } from "../../platform/remember.ts";

/** What a template may be made of: text and structure. What executes, embeds, submits or styles is not here. */
const TAGS = new Set(
  (
    "a abbr address article aside b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure footer " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark nav ol p pre q s samp section small span strong sub summary sup table tbody td " +
    "tfoot th thead time tr u ul var wbr"
  ).split(" "),
);

const GLOBAL_ATTRIBUTES = ["class", "id", "title", "lang", "dir", "role", "hidden", "aria-*"];
const ATTRIBUTES: Record<string, string[]> = {
  a: ["href", "hreflang", "rel", "target"],
  blockquote: ["cite"],
  col: ["span"],
  colgroup: ["span"],
  del: ["cite", "datetime"],
  details: ["open"],
  img: ["src", "alt", "width", "height", "loading", "decoding"],
  ins: ["cite", "datetime"],
  li: ["value"],
  ol: ["start", "reversed", "type"],
  q: ["cite"],
  td: ["colspan", "rowspan", "headers"],
  th: ["colspan", "rowspan", "headers", "scope", "abbr"],
  time: ["datetime"],
};

/** Schemes of an address by its attribute; an address without a scheme and a host stays on the page's own host. */
const SCHEMES: Record<string, string[]> = { href: ["https", "http", "mailto", "tel"], src: ["https"], cite: ["https", "http"] };

const REASONS: Record<string, string> = {
  script: "Scripts are never executed on a status page.",
  style: "Put styles into the CSS.",
  link: "Put styles into the CSS.",
};

const MAX_NESTING = 100;

/** The second wall: what this would change in a template is unsafe, whether or not it is named above. */
const STRICT: sanitizeHtml.IOptions = {
  allowedTags: [...TAGS],
  allowedAttributes: { ...ATTRIBUTES, "*": GLOBAL_ATTRIBUTES },
  allowedSchemes: SCHEMES.href!,
  allowedSchemesByTag: { img: SCHEMES.src! },
  allowedSchemesAppliedToAttributes: Object.keys(SCHEMES),
  allowProtocolRelative: false,
  parseStyleAttributes: false,
  // An empty value does no harm, and removing it would look like a fault.
  nonBooleanAttributes: [],
};

/** As pages draw it: no deeper than may be saved, and without placeholders inside tags, where filling them in would change what was judged. */
const DRAWN: sanitizeHtml.IOptions = {
  ...STRICT,
  nestingLimit: MAX_NESTING,
  transformTags: {
    "*": (tagName, attributes) => ({ tagName, attribs: Object.fromEntries(Object.entries(attributes).filter(([name, value]) => !holdsPlaceholder(name) && !holdsPlaceholder(value))) }),
  },
};

/** Browsers end these elsewhere than the parser does, and take what follows for markup. */
const READ_OTHERWISE = /<!--(?:-?>)|--!>|<!\[CDATA\[/;

/** The same serialisation with everything kept, so that only what is unsafe differs. */
const EVERYTHING: sanitizeHtml.IOptions = {
  allowedTags: false,
  allowedAttributes: false,
  allowVulnerableTags: true,
  allowedSchemesAppliedToAttributes: [],
  parseStyleAttributes: false,
  nonBooleanAttributes: [],
};

/** A sentence for each kind of thing in a template's HTML that sanitising removes; none when it is safe. */
export function findUnsafeHtml(html: string): string[] {
  const faults = new Set<string>();
  if (READ_OTHERWISE.test(html)) faults.add("A comment must begin with <!-- and end with -->, and there are no CDATA sections in HTML.");
  let depth = 0;
  const options: sanitizeHtml.IOptions = {
    ...STRICT,
    onOpenTag(tag, attributes) {
      if (++depth > MAX_NESTING) throw new TooDeep();
      if (!TAGS.has(tag)) faults.add(`The tag <${cut(tag)}> is not allowed.${REASONS[tag] === undefined ? "" : ` ${REASONS[tag]}`}`);
      else for (const [name, value] of Object.entries(attributes)) addIfAny(faults, attributeFault(tag, name, value));
    },
    onCloseTag: () => void depth--,
  };
  try {
    const sanitised = sanitizeHtml(html, options);
    if (faults.size === 0 && sanitised !== sanitizeHtml(html, EVERYTHING)) faults.add("The HTML holds something that is not allowed.");
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    faults.add(`The HTML is nested more than ${MAX_NESTING} levels deep; perhaps tags are not closed.`);
  }
  return [...faults];
}

/** Texts of pages that are drawn again and again; each has up to 64 KiB. */
const MOST_REMEMBERED = 200;

/** HTML as a page may carry it: whatever `findUnsafeHtml` would name is gone, and what is open is closed. */
export const sanitizePageHtml = remember((html) => sanitizeHtml(html, DRAWN), MOST_REMEMBERED);

/** Ends the sanitising, which takes the square of the depth's time. */
class TooDeep extends Error {}

function attributeFault(tag: string, name: string, value: string): string | null {
  // A section is HTML: inside a tag it would break out of it.
  if (holdsPlaceholder(value) || holdsPlaceholder(name)) return `A placeholder stands inside the tag <${tag}>; it can only stand between tags.`;
  if (name.startsWith("on")) return `The attribute ${cut(name)} of <${tag}> is not allowed. Scripts are never executed on a status page.`;
  if (name === "style") return `The attribute style of <${tag}> is not allowed. Give it a class and put styles into the CSS.`;
  if (!name.startsWith("aria-") && !GLOBAL_ATTRIBUTES.includes(name) && !ATTRIBUTES[tag]?.includes(name)) return `The attribute ${cut(name)} of <${tag}> is not allowed.`;
  const schemes = SCHEMES[name];
  return schemes && !isSafeAddress(value, schemes) ? `The address "${cut(value)}" of <${tag}> must be ${schemes.join(", ")} or a path on the page's own host.` : null;
}

/** Judged as browsers read it: they skip control characters and take a backslash for a slash. */
function isSafeAddress(value: string, schemes: readonly string[]): boolean {
  if (!URL.canParse(value, "https://page.invalid")) return false;
  const { protocol, host } = new URL(value, "https://page.invalid");
  if (host === "page.invalid" && protocol === "https:") return true;
  const scheme = protocol.slice(0, -1);
  return schemes.includes(scheme) && value.trim().toLowerCase().startsWith(`${scheme}:`);
}

function holdsPlaceholder(text: string): boolean {
  return text.includes("{{");
}

function addIfAny(faults: Set<string>, fault: string | null): void {
  if (fault !== null) faults.add(fault);
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
