import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserAvailable, startBrowser } from "../testing/browser.ts";
import { startTestHouse, type TestHouse } from "../testing/house.ts";
import { startMailServer, type MailServer } from "../testing/mail-server.ts";

let mail: MailServer;
let house: TestHouse;
beforeAll(async () => {
  mail = await startMailServer();
  house = await startTestHouse({ SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: "status@acme.example" });
});
afterAll(async () => {
  await house.stop();
  await mail.stop();
});

const page = () => `${house.base}/pages/${house.organization.pageSlug}`;
const openIncident = (title: string) => house.call("POST", "/incidents", { title, services: ["Website"] });

/** The link in the newest of so many mails to an address; the port that was chosen is not known to the configuration. */
async function linkTo(address: string, count: number): Promise<string> {
  await expect.poll(() => mail.mailsTo(address).length).toBe(count);
  const { parsed } = mail.mailsTo(address).at(-1)!;
  return /http:\S+token=\S+/.exec(parsed.text!)![0].replace("http://localhost:0", house.base);
}

it("a whole Pharos confirms by mail, tells of an incident and lets go", async () => {
  const asked = await fetch(`${page()}/subscribers`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: "ada@example.com" }) });
  expect(asked.status).toBe(202);
  expect((await fetch(await linkTo("ada@example.com", 1), { method: "POST" })).status).toBe(200);
  await openIncident("Slow");
  const own = await linkTo("ada@example.com", 2);
  expect(mail.mailsTo("ada@example.com")[1]!.parsed.subject).toBe("[Test team] Slow: investigating");
  expect((await fetch(own, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "List-Unsubscribe=One-Click" })).status).toBe(200);
  const { body } = await house.call<{ subscribers: { state: string }[] }>("GET", `/status-pages/${house.organization.pageId}/subscribers`);
  expect(body.subscribers.map(({ state }) => state)).toEqual(["unsubscribed"]);
});

describe.runIf(browserAvailable())("in Chromium without scripts", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it("a visitor subscribes, confirms and leaves by forms", async () => {
    const tab = await browser.newPage({ javaScriptEnabled: false });
    await tab.goto(page());
    await tab.getByLabel("Email address").fill("bob@example.com");
    await tab.getByRole("button", { name: "Subscribe" }).click();
    await tab.getByRole("heading", { name: "Check your mail" }).waitFor();
    await tab.goto(await linkTo("bob@example.com", 1));
    await tab.getByRole("button", { name: "Confirm subscription" }).click();
    await tab.getByText("bob@example.com is subscribed to Test team.").waitFor();
    await openIncident("Slower");
    await tab.goto(await linkTo("bob@example.com", 2));
    await tab.getByRole("button", { name: "Unsubscribe" }).click();
    await tab.getByText("bob@example.com is unsubscribed from Test team.").waitFor();
  });
});
