import { describe, expect, it } from "vitest";
import { parseWhois, whoisReferral } from "./parse-whois.ts";

const lines = (...texts: string[]) => texts.join("\r\n");

/** Answers in the forms of registries, written for this test: expiry, registrar, created, name servers. */
const FORMS: [registry: string, text: string, expiry: string | null, registrar: string | null, created: string | null, nameservers: string[]][] = [
  ["com", lines("   Domain Name: EXAMPLE.COM", "   Registrar WHOIS Server: whois.registrar.example", "   Registrar URL: http://registrar.example", "   Updated Date: 2025-08-14T07:01:34Z", "   Creation Date: 1995-08-14T04:00:00Z", "   Registry Expiry Date: 2026-08-13T04:00:00Z", "   Registrar: Example Registrar, Inc.", "   Domain Status: clientDeleteProhibited https://icann.org/epp#clientDeleteProhibited", "   Name Server: A.IANA-SERVERS.NET", "   Name Server: B.IANA-SERVERS.NET", ">>> Last update of whois database: 2025-11-22T02:00:00Z <<<"), "2026-08-13T04:00:00.000Z", "Example Registrar, Inc.", "1995-08-14T04:00:00.000Z", ["a.iana-servers.net", "b.iana-servers.net"]],
  ["org", lines("Domain Name: example.org", "Creation Date: 1995-08-31T04:00:00Z", "Registry Expiry Date: 2026-08-30T04:00:00Z", "Registrar: Example", "Name Server: ns1.example.org"), "2026-08-30T04:00:00.000Z", "Example", "1995-08-31T04:00:00.000Z", ["ns1.example.org"]],
  ["a registrar", lines("Domain Name: example.com", "Registrar Registration Expiration Date: 2026-08-13T04:00:00+0000", "Registrar: Example"), "2026-08-13T04:00:00.000Z", "Example", null, []],
  ["uk", lines("    Domain name:", "        example.co.uk", "", "    Registrar:", "        Example Ltd t/a Names [Tag = EXAMPLE]", "        URL: https://www.example.uk", "", "    Relevant dates:", "        Registered on: 01-May-2000", "        Expiry date:  01-May-2026", "        Last updated:  10-Apr-2025", "", "    Registration status:", "        Registered until expiry date.", "", "    Name servers:", "        ns1.example.co.uk      192.0.2.1", "        ns2.example.co.uk"), "2026-05-01T00:00:00.000Z", "Example Ltd t/a Names", "2000-05-01T00:00:00.000Z", ["ns1.example.co.uk", "ns2.example.co.uk"]],
  ["de", lines("% Terms", "Domain: example.de", "Nserver: ns1.example.de", "Nserver: ns2.example.de 192.0.2.2", "Status: connect", "Changed: 2018-03-12T21:44:25+01:00"), null, null, null, ["ns1.example.de", "ns2.example.de"]],
  ["nl", lines("Domain name: example.nl", "Status:      active", "", "Registrar:", "   Example BV", "   Street 1", "   1234AB City", "   Netherlands", "", "Abuse Contact:", "", "Creation Date: 1999-05-27", "", "DNSSEC:      yes", "", "Domain nameservers:", "   ns1.example.nl", "   ns2.example.nl"), null, "Example BV", "1999-05-27T00:00:00.000Z", ["ns1.example.nl", "ns2.example.nl"]],
  ["fr", lines("%% AFNIC", "domain:                        example.fr", "status:                        ACTIVE", "registrar:                     EXAMPLE SAS", "Expiry Date:                   2026-12-31T22:59:59Z", "created:                       1998-06-03T00:00:00Z", "last-update:                   2025-01-01T10:00:00Z", "nserver:                       ns1.example.fr", "", "registrar:                     EXAMPLE SAS", "created:                       2000-01-01T00:00:00Z"), "2026-12-31T22:59:59.000Z", "EXAMPLE SAS", "1998-06-03T00:00:00.000Z", ["ns1.example.fr"]],
  ["it", lines("Domain:             example.it", "Status:             ok", "Created:            1999-03-22 00:00:00", "Last Update:        2025-04-07 00:50:10", "Expire Date:        2026-03-22", "", "Registrant", "  Organization:     Somebody Srl", "", "Registrar", "  Organization:     Example S.p.A.", "  Name:             EXAMPLE-REG", "  Web:              http://www.example.it", "", "Nameservers", "  ns1.example.it", "  ns2.example.it"), "2026-03-22T00:00:00.000Z", "Example S.p.A.", "1999-03-22T00:00:00.000Z", ["ns1.example.it", "ns2.example.it"]],
  ["es", lines("Domain Name: example.es", "Creation Date: 01-02-2003", "Expiration Date: 28-02-2026", "Name Server: ns1.example.es"), "2026-02-28T00:00:00.000Z", null, "2003-02-01T00:00:00.000Z", ["ns1.example.es"]],
  ["pt", lines("Domain: example.pt", "Domain Status: Registered", "Creation Date: 01/03/2000 00:00:00", "Expiration Date: 15/11/2026 23:59:00", "Name Server: ns1.example.pt | IPv4: 192.0.2.1"), "2026-11-15T23:59:00.000Z", null, "2000-03-01T00:00:00.000Z", ["ns1.example.pt"]],
  ["pl", lines("DOMAIN NAME:           example.pl", "registrant type:       organization", "nameservers:           ns1.example.pl.", "                       ns2.example.pl. [192.0.2.1]", "created:               1999.03.01 13:00:00", "last modified:         2025.02.10 09:00:00", "renewal date:          2026.02.28 14:00:00", "", "REGISTRAR:", "Example Sp. z o.o.", "ul. Prosta 1"), "2026-02-28T14:00:00.000Z", "Example Sp. z o.o.", "1999-03-01T13:00:00.000Z", ["ns1.example.pl"]],
  ["cz", lines("domain:       example.cz", "registrant:   SB:X", "registrar:    REG-EXAMPLE", "registered:   07.08.1996 02:00:00", "changed:      15.05.2018 21:32:00", "expire:       27.10.2026", "", "nsset:        NS:X", "nserver:      ns1.example.cz (192.0.2.1, 2001:db8::1)", "created:      01.10.2007 02:00:00"), "2026-10-27T00:00:00.000Z", "REG-EXAMPLE", "1996-08-07T02:00:00.000Z", ["ns1.example.cz"]],
  ["sk", lines("Domain:                       example.sk", "Created:                      2003-02-12", "Valid Until:                  2026-05-06", "Updated:                      2025-05-01", "Nameserver:                   ns1.example.sk", "Registrar:                    EXAM-0001", "Name:                         Example s.r.o."), "2026-05-06T00:00:00.000Z", "EXAM-0001", "2003-02-12T00:00:00.000Z", ["ns1.example.sk"]],
  ["ru", lines("% TCI", "domain:        EXAMPLE.RU", "nserver:       ns1.example.ru.", "state:         REGISTERED, DELEGATED, VERIFIED", "registrar:     EXAMPLE-RU", "created:       1997-09-23T09:45:07Z", "paid-till:     2026-09-30T21:00:00Z", "free-date:     2026-11-01"), "2026-09-30T21:00:00.000Z", "EXAMPLE-RU", "1997-09-23T09:45:07.000Z", ["ns1.example.ru"]],
  ["ua", lines("% UA", "domain:           example.ua", "registrar:        ua.example", "nserver:          ns1.example.ua", "status:           ok", "created:          2002-12-04 00:00:00+02", "modified:         2025-10-17 13:09:51+03", "expires:          2026-12-04 00:00:00+02"), "2026-12-03T22:00:00.000Z", "ua.example", "2002-12-03T22:00:00.000Z", ["ns1.example.ua"]],
  ["se", lines("# IIS", "state:            active", "domain:           example.se", "created:          1999-01-05", "expires:          2026-11-01", "nserver:          ns1.example.se 192.0.2.1", "registrar:        Example AB"), "2026-11-01T00:00:00.000Z", "Example AB", "1999-01-05T00:00:00.000Z", ["ns1.example.se"]],
  ["dk", lines("# DK", "Domain:               example.dk", "DNS:                  example.dk", "Registered:           1999-06-17", "Expires:              2026-06-30", "Status:               Active", "", "Nameservers", "Hostname:             ns1.example.dk", "Hostname:             ns2.example.dk"), "2026-06-30T00:00:00.000Z", null, "1999-06-17T00:00:00.000Z", ["ns1.example.dk", "ns2.example.dk"]],
  ["fi", lines("domain.............: example.fi", "status.............: Registered", "created............: 1.1.1991 00:00:00", "expires............: 4.7.2026 10:15:55", "Nameservers", "", "nserver............: ns1.example.fi [OK]", "", "Registrar", "", "registrar..........: Example Oy", "www................: www.example.fi"), "2026-07-04T10:15:55.000Z", "Example Oy", "1991-01-01T00:00:00.000Z", ["ns1.example.fi"]],
  ["ee", lines("Domain:", "name:       example.ee", "status:     ok (paid and in zone)", "registered: 2010-07-04 04:11:35 +03:00", "expire:     2026-07-05", "", "Registrar:", "name:       Example OÜ", "url:        http://www.example.ee", "", "Name servers:", "nserver:   ns1.example.ee"), "2026-07-05T00:00:00.000Z", "Example OÜ", "2010-07-04T01:11:35.000Z", ["ns1.example.ee"]],
  ["lt", lines("% LT", "Domain:\t\t\texample.lt", "Status:\t\t\tregistered", "Registered:\t\t1998-05-10", "Expires:\t\t2026-05-11", "Registrar:\t\tExample UAB", "Nameserver:\t\tns1.example.lt"), "2026-05-11T00:00:00.000Z", "Example UAB", "1998-05-10T00:00:00.000Z", ["ns1.example.lt"]],
  ["ro", lines("  Domain Name: example.ro", "  Registered On: Before 2001", "  Expires On: 2026-05-21", "  Registrar: Example SRL", "  Nameserver: ns1.example.ro"), "2026-05-21T00:00:00.000Z", "Example SRL", null, ["ns1.example.ro"]],
  ["rs", lines("Domain name: example.rs", "Domain status: Active", "Registration date: 10.03.2008 12:31:19", "Modification date: 06.02.2025 09:52:40", "Expiration date: 10.03.2026 12:31:19", "Registrar: Example d.o.o.", "DNS: ns1.example.rs - 192.0.2.1"), "2026-03-10T12:31:19.000Z", "Example d.o.o.", "2008-03-10T12:31:19.000Z", []],
  ["is", lines("domain:       example.is", "registrant:   X1-IS", "nserver:      ns1.example.is", "created:      May  6 2001", "expires:      May 16 2026", "source:       ISNIC"), "2026-05-16T00:00:00.000Z", null, "2001-05-06T00:00:00.000Z", ["ns1.example.is"]],
  ["tr", lines("** Domain Name: example.com.tr", "Domain Status: Active", "", "** Registrar:", "NIC Handle\t\t: exm1", "Organization Name\t: Example A.S.", "", "** Domain Servers:", "ns1.example.com.tr", "ns2.example.com.tr 192.0.2.1", "", "** Additional Info:", "Created on..............: 2001-Aug-23.", "Expires on..............: 2026-Aug-22."), "2026-08-22T00:00:00.000Z", "Example A.S.", "2001-08-23T00:00:00.000Z", ["ns1.example.com.tr", "ns2.example.com.tr"]],
  ["br", lines("% Copyright", "domain:      example.com.br", "owner:       Somebody", "nserver:     ns1.example.com.br", "nsstat:      20251120 AA", "created:     19990518 #123456", "changed:     20250427", "expires:     20260518", "status:      published"), "2026-05-18T00:00:00.000Z", null, "1999-05-18T00:00:00.000Z", ["ns1.example.com.br"]],
  ["cl", lines("%% CL", "Domain name: example.cl", "Registrar name: NIC Chile", "Registrar URL: https://www.nic.cl", "Creation date: 2002-11-22 16:29:09 CLST", "Expiration date: 2026-11-20 14:00:00 CLST", "Name server: ns1.example.cl"), "2026-11-20T17:00:00.000Z", "NIC Chile", "2002-11-22T19:29:09.000Z", ["ns1.example.cl"]],
  ["mx", lines("Domain Name:       example.mx", "Created On:        2009-05-12", "Expiration Date:   2026-05-11", "Last Updated On:   2025-10-15", "Registrar:         Example", "URL:               http://www.example.mx", "", "Name Servers:", "   DNS:            ns1.example.mx"), "2026-05-11T00:00:00.000Z", "Example", "2009-05-12T00:00:00.000Z", []],
  ["ar", lines("domain:\t\texample.com.ar", "registrar:\tnicar", "registered:\t1998-05-29 00:00:00", "changed:\t2025-05-20 09:05:43.812531", "expire:\t\t2026-06-01 00:00:00", "nserver:\tns1.example.com.ar ()"), "2026-06-01T00:00:00.000Z", "nicar", "1998-05-29T00:00:00.000Z", ["ns1.example.com.ar"]],
  ["jp", lines("[ JPRS database ]", "[Domain Name]                   EXAMPLE.JP", "[Registrant]                    Somebody", "[Name Server]                   ns1.example.jp", "[Name Server]                   ns2.example.jp", "[Created on]                    2001/05/10", "[Expires on]                    2026/05/31", "[Status]                        Active", "[Last Updated]                  2025/06/01 01:05:04 (JST)"), "2026-05-31T00:00:00.000Z", null, "2001-05-10T00:00:00.000Z", ["ns1.example.jp", "ns2.example.jp"]],
  ["co.jp", lines("a. [Domain Name]                EXAMPLE.CO.JP", "g. [Organization]               Example Inc.", "p. [Name Server]                ns1.example.co.jp", "[State]                         Connected (2026/03/31)", "[Registered Date]               1999/03/08"), "2026-03-31T00:00:00.000Z", null, "1999-03-08T00:00:00.000Z", ["ns1.example.co.jp"]],
  ["kr", lines("query : example.kr", "", "# ENGLISH", "", "Domain Name                 : example.kr", "Registered Date             : 2007. 03. 02.", "Last Updated Date           : 2018. 02. 28.", "Expiration Date             : 2026. 03. 02.", "Authorized Agency           : Example(http://www.example.kr)", "", "Primary Name Server", "   Host Name                : ns1.example.kr"), "2026-03-02T00:00:00.000Z", "Example", "2007-03-02T00:00:00.000Z", ["ns1.example.kr"]],
  ["cn", lines("Domain Name: example.cn", "ROID: 20030310s10001s00033735-cn", "Domain Status: clientTransferProhibited", "Sponsoring Registrar: Example Ltd.", "Name Server: ns1.example.cn", "Registration Time: 2003-03-17 12:20:05", "Expiration Time: 2026-03-17 12:48:36"), "2026-03-17T12:48:36.000Z", "Example Ltd.", "2003-03-17T12:20:05.000Z", ["ns1.example.cn"]],
  ["tw", lines("Domain Name: example.com.tw", "   Domain Status: clientUpdateProhibited", "   Record expires on 2026-05-01 08:00:00 (UTC+8)", "   Record created on 2000-08-28 08:00:00 (UTC+8)", "", "   Domain servers in listed order:", "      ns1.example.com.tw", "      ns2.example.com.tw", "", "Registration Service Provider: Example Co."), "2026-05-01T00:00:00.000Z", "Example Co.", "2000-08-28T00:00:00.000Z", ["ns1.example.com.tw", "ns2.example.com.tw"]],
  ["hk", lines("Domain Name:  EXAMPLE.HK", "Domain Status: Active", "Registrar Name: Example Limited", "Domain Name Commencement Date: 06-04-2004", "Expiry Date: 31-03-2026", "Name Servers Information:", "", "NS1.EXAMPLE.HK"), "2026-03-31T00:00:00.000Z", "Example Limited", "2004-04-06T00:00:00.000Z", []],
  ["th", lines("Domain Name:        EXAMPLE.CO.TH", "Registrar:          THNIC", "Name Server:        NS1.EXAMPLE.CO.TH", "Status:             ACTIVE", "Updated date:       26 Nov 2024", "Created date:       08 Oct 1999", "Exp date:           07 Oct 2026"), "2026-10-07T00:00:00.000Z", "THNIC", "1999-10-08T00:00:00.000Z", ["ns1.example.co.th"]],
  ["il", lines("query:        example.co.il", "domain:       example.co.il", "nserver:      ns1.example.co.il", "validity:     05-06-2026", "status:       Transfer Locked", "registrar name: Example Ltd"), "2026-06-05T00:00:00.000Z", "Example Ltd", null, ["ns1.example.co.il"]],
  ["ir", lines("% IR", "domain:\t\texample.ir", "holder-c:\tex1", "nserver:\tns1.example.ir", "last-updated:\t2025-10-15", "expire-date:\t2026-12-22"), "2026-12-22T00:00:00.000Z", null, null, ["ns1.example.ir"]],
  ["eu", lines("% EU", "Domain: example.eu", "Script: LATIN", "", "Registrant:", "        NOT DISCLOSED!", "", "Registrar:", "        Name: Example SA", "        Website: https://example.eu", "", "Name servers:", "        ns1.example.eu", "        ns2.example.eu"), null, "Example SA", null, ["ns1.example.eu", "ns2.example.eu"]],
  ["be", lines("% BE", "Domain:\texample.be", "Status:\tNOT AVAILABLE", "Registered:\tTue Jan 1 2002", "", "Registrar:", "\tName:\tExample NV", "\tWebsite:\thttps://example.be", "", "Nameservers:", "\tns1.example.be"), null, "Example NV", "2002-01-01T00:00:00.000Z", ["ns1.example.be"]],
  ["at", lines("% AT", "domain:         example.at", "registrar:      Example GmbH ( https://nic.at/registrar/1 )", "nserver:        ns1.example.at", "changed:        20181001 10:08:14"), null, "Example GmbH", null, ["ns1.example.at"]],
];

describe("parseWhois", () => {
  it.each(FORMS)("reads the form of %s", (_registry, text, expiry_date, registrar, created_date, nameservers) => {
    expect(parseWhois(text)).toMatchObject({ kind: "found", registration: { expiry_date, registrar, created_date, nameservers } });
    // The same with the line ends of others.
    expect(parseWhois(text.replaceAll("\r\n", "\n"))).toEqual(parseWhois(text));
  });

  it("finds the status without its address, and the registrar's own page", () => {
    expect(parseWhois(FORMS[0]![1])).toMatchObject({ registration: { status: ["clientDeleteProhibited"], registrar_url: "http://registrar.example", updated_date: "2025-08-14T07:01:34.000Z" } });
    expect(parseWhois(FORMS[3]![1])).toMatchObject({ registration: { registrar_url: "https://www.example.uk", status: ["Registered until expiry date."] } });
  });

  it.each([
    'No match for domain "EXAMPLE.COM".',
    "No match for example.com",
    "NOT FOUND",
    "Domain not found.",
    "No Data Found",
    "No entries found for the selected source(s).",
    "%ERROR:101: no entries found",
    "Domain: example.de\nStatus: free",
    "Domain:\texample.be\nStatus:\tAVAILABLE",
    "example.nl is free",
    "No match!!",
    "Domain example.se not found.",
    "Object does not exist",
    "The queried object does not exist: DOMAIN NOT FOUND",
    "This domain name has not been registered.",
    "No information available about domain name example.pl in the Registry NASK database.",
    "%% No matching record found",
    "Domain example.xx is available for registration",
    "No Object Found",
    "The domain has not been registered.",
    "No such domain example.ua",
  ])("knows that nobody has it: %s", (text) => expect(parseWhois(text)).toEqual({ kind: "not_registered" }));

  it.each([
    "WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS",
    "Query rate limit exceeded. Reduced information.",
    "Your connection limit exceeded. Please slow down and try again later.",
    "% You have exceeded allotted query limit",
    "Too many requests",
    "Quota exceeded",
  ])("knows that the server has had enough: %s", (text) => expect(parseWhois(text)).toEqual({ kind: "too_many" }));

  it.each(["", "% This is a comment", "<html><body>hello</body></html>", "\u0000\u0001"])("does not take this for a domain: %s", (text) => expect(parseWhois(text)).toEqual({ kind: "unreadable" }));

  it("reads a long line in no time", () => {
    const began = performance.now();
    parseWhois(`Registrar: a${" ".repeat(65_000)}b\n${"(".repeat(65_000)}\n${". ".repeat(32_000)}:`);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it("does not take a terms-of-use text about limits for a refusal when the domain is there", () => {
    expect(parseWhois(`${FORMS[0]![1]}\r\nQueries in excess of the limit exceeded will be refused. Not found is not an error.`)).toMatchObject({ kind: "found" });
  });
});

describe("whoisReferral", () => {
  it.each([
    ["domain: COM\nrefer:        whois.verisign-grs.com\nwhois: other.example\n", "whois.verisign-grs.com"],
    ["whois:        whois.nic.io", "whois.nic.io"],
    ["   Registrar WHOIS Server: WHOIS.Registrar.example.", "whois.registrar.example"],
    ["Registrar WHOIS Server: whois://whois.registrar.example/", "whois.registrar.example"],
    ["refer: 127.0.0.1:4343", "127.0.0.1:4343"],
    ["Registrar WHOIS Server:\nName: refer", null],
    ["nothing here", null],
  ])("of %j", (text, server) => expect(whoisReferral(text)).toBe(server));
});
