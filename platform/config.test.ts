import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const faultsOf = (environment: Record<string, string>) => {
  const read = readConfig(environment);
  return "faults" in read ? read.faults : [];
};

describe("the settings of mail", () => {
  const from = { MAIL_FROM: "Acme Status <status@example.com>" };

  it.each(["", "smtp://mail.example.com", "smtp://u:p%2Fw@mail.example.com:2525", "smtps://u:p@[::1]:465"])("take %s", (url) => {
    expect(faultsOf({ ...from, SMTP_URL: url })).toEqual([]);
  });

  it.each(["mail.example.com:25", "https://u:hidden@mail.example.com", "smtp://", "smtp://u:%hidden@mail.example.com"])("refuse %s, and never print it", (url) => {
    const faults = faultsOf({ ...from, SMTP_URL: url });
    expect(faults).toEqual([expect.stringMatching(/^SMTP_URL: must be a URL such as smtp:/) as string]);
    expect(faults.join()).not.toContain("hidden");
  });

  it("need to know whom mail comes from", () => {
    expect(faultsOf({ SMTP_URL: "smtp://mail.example.com" })).toEqual(["SMTP_URL needs MAIL_FROM: whom mail comes from, such as Acme Status <status@example.com>."]);
  });

  it.each(["status@example.com", "Störung bei Acme <status@example.com>"])("take mail from %s", (sender) => {
    expect(faultsOf({ MAIL_FROM: sender })).toEqual([]);
  });

  it.each(["Acme", "a@b, c@d", "Acme <a@b.example>\r\nBcc: x@y.example", "<a b@c.example>"])("take no mail from %s", (sender) => {
    expect(faultsOf({ MAIL_FROM: sender })).toHaveLength(1);
  });
});

describe("whose X-Forwarded-For counts", () => {
  it.each([
    { name: "nobody's as it comes", environment: {}, expected: [] },
    { name: "this machine's where something stands in front", environment: { PUBLIC_URL: "https://status.example.com" }, expected: ["127.0.0.0/8", "::1/128"] },
    { name: "nobody's when that is said", environment: { PUBLIC_URL: "https://status.example.com", TRUSTED_PROXIES: "" }, expected: [] },
    { name: "whose is said", environment: { PUBLIC_URL: "https://status.example.com", TRUSTED_PROXIES: "10.0.0.7" }, expected: ["10.0.0.7"] },
  ])("is $name", ({ environment, expected }) => {
    expect(readConfig(environment)).toMatchObject({ config: { TRUSTED_PROXIES: expected } });
  });
});
