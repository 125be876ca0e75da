import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/** The second-level names that registries of these top-level domains sell under. Private suffixes such as github.io are left out: what expires is their owner's registration. */
const SECOND_LEVEL: Record<string, string> = {
  ae: "ac co gov mil net org sch",
  ar: "com edu gob int mil net org tur",
  at: "ac co gv or",
  au: "asn com edu gov id net org",
  bd: "ac com edu gov info mil net org",
  bo: "com edu gob int mil net org tv",
  br: "adm adv app art blog com dev eco edu emp eng esp etc far flog fm fst g12 gov imb ind inf jor jus leg lel med mil mus net nom ong org psi rec srv tec tmp tur tv vet vlog wiki",
  cn: "ac com edu gov mil net org ah bj cq fj gd gs gx gz ha hb he hi hk hl hn jl js jx ln mo nm nx qh sc sd sh sn sx tj tw xj xz yn zj",
  co: "com edu gov mil net nom org",
  cr: "ac co ed fi go or sa",
  cy: "ac biz com ekloges gov ltd mil net org press pro tm",
  do: "art com edu gob gov mil net org sld web",
  ec: "com edu fin gob gov info k12 med mil net org pro",
  ee: "aip com edu fie gov lib med org pri riik",
  eg: "com edu eun gov mil name net org sci",
  es: "com edu gob nom org",
  fr: "asso com gouv nom prd tm",
  gh: "com edu gov mil org",
  gr: "com edu gov net org",
  gt: "com edu gob ind mil net org",
  hk: "com edu gov idv net org",
  hu: "2000 agrar bolt casino city co erotica erotika film forum games hotel info ingatlan jogasz konyvelo lakas media news org priv reklam sex shop sport suli szex tm tozsde utazas video",
  id: "ac biz co desa go mil my net or ponpes sch web",
  il: "ac co gov idf k12 muni net org",
  in: "ac co edu firm gen gov ind mil net nic org res",
  ir: "ac co gov id net org sch",
  it: "edu gov",
  jp: "ac ad co ed go gr lg ne or",
  ke: "ac co go info me mobi ne or sc",
  kh: "com edu gov mil net org per",
  kr: "ac co es go hs kg mil ms ne or pe re sc",
  kz: "com edu gov mil net org",
  lb: "com edu gov net org",
  lk: "ac assn com edu gov grp hotel int ltd net ngo org sch soc web",
  lv: "asn com conf edu gov id mil net org",
  ma: "ac co gov net org press",
  mx: "com edu gob net org",
  my: "biz com edu gov mil name net org",
  ng: "com edu gov i mil mobi name net org sch",
  np: "com edu gov mil net org",
  nz: "ac co cri geek gen govt health iwi kiwi maori mil net org parliament school",
  om: "co com edu gov med museum net org pro",
  pa: "abo ac com edu gob ing med net nom org sld",
  pe: "com edu gob mil net nom org",
  ph: "com edu gov i mil net ngo org",
  pk: "biz com edu fam gob gok gon gop gos gov info net org web",
  pl: "agro aid atm auto biz com edu gmina gov gsm info mail media miasta mil net nieruchomosci nom org pc powiat priv rel sklep sos szkola targi tm tourism travel turystyka waw wroc",
  pt: "com edu gov int net nome org publ",
  py: "com coop edu gov mil net org una",
  qa: "com edu gov mil name net org sch",
  ro: "arts com firm info nom nt org rec store tm www",
  rs: "ac co edu gov in org",
  ru: "ac com edu gov int mil msk net org pp spb",
  sa: "com edu gov med net org pub sch",
  sg: "com edu gov net org per",
  sv: "com edu gob org red",
  th: "ac co go in mi net or",
  tn: "com ens fin gov ind info intl mincom nat net org perso tourism",
  tr: "av bbs bel biz com dr edu gen gov info k12 kep mil name net org pol tel tsk tv web",
  tw: "club com ebiz edu game gov idv mil net org",
  tz: "ac co go hotel info me mil mobi ne or sc tv",
  ua: "biz com edu gov in info kiev kyiv lviv net odesa org pp",
  ug: "ac co com go ne or org sc",
  uk: "ac co gov ltd me net nhs org plc police sch",
  us: "fed k12 lib nsn state",
  uy: "com edu gub mil net org",
  uz: "co com net org",
  ve: "arts bib co com e12 edu firm gob gov info int mil net nom org rec store tec web",
  vn: "ac biz com edu gov health info int name net org pro",
  za: "ac co edu gov law mil net nom org school web",
  zm: "ac co com edu gov net org sch",
  zw: "ac co gov mil org",
};

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
const TOP_LEVEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/** What can be wrong with a domain, as a sentence with what to do. */
type Registrable = { ok: true; domain: string } | { ok: false; sentence: string };

/**
 * The part of a name that is registered, in lower-case ASCII: `example.co.uk` of `Shop.Example.co.uk`. Knows the second-level names of the usual
 * registries; under others it is the last two labels.
 */
export function registrableDomain(text: string): Registrable {
  if (/[:/?#@\s\\]/.test(text)) return { ok: false, sentence: "The domain must be a name alone, such as example.com, without protocol, port or path." };
  const name = domainToASCII(text).replace(/\.$/, "");
  const labels = name.split(".");
  if (isIP(name) !== 0) return { ok: false, sentence: "An address is not registered like a domain: name a domain such as example.com." };
  if (name.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label)) || !TOP_LEVEL.test(labels.at(-1)!)) {
    return { ok: false, sentence: "This is no valid domain: name one such as example.com." };
  }
  const [second, top] = [labels.at(-2)!, labels.at(-1)!];
  const size = isSuffix(second, top) ? 3 : 2;
  if (labels.length < size) return { ok: false, sentence: `${name} is a registry's suffix, not a registered domain: name one below it, such as example.${name}.` };
  return { ok: true, domain: labels.slice(-size).join(".") };
}

function isSuffix(second: string, top: string): boolean {
  return (SECOND_LEVEL[top] ?? "").split(" ").includes(second);
}
