import { expect, it } from "vitest";
import { neutralName } from "./neutral-name.ts";

const ID = "0190aaaa-0000-7000-8000-000000000000";

it.each([
  ["Acme", "Acme"],
  ["Acme Inc. Status", "Acme Inc. Status"],
  ["Grüne & Co", "Grüne & Co"],
  ["ヤマト 運輸", "ヤマト 運輸"],
  ["Version 1.2", "Version 1.2"],
  ["Your account is locked: https://evil.example/login now", "Your account is locked: now"],
  ["Go to evil.example", "Go to"],
  ["Go to EVIL.EXAMPLE, please", "Go to please"],
  ["evil。example ｅｖｉｌ．ｅｘａｍｐｌｅ evil｡example", "0190aaaa"],
  ["bücher.example 1.2.3.4/x //evil", "0190aaaa"],
  ["Write help@evil mailto:help tel:+123456", "Write"],
  ["evil\u200b.example evil.\u00adexample", "evil .example evil. example"],
  ["a\r\nBcc: b\u2028c\u202ed", "a Bcc: b c d"],
  ["https://evil.example", "0190aaaa"],
  ["", "0190aaaa"],
])("%j is called %j", (name, shown) => {
  expect(neutralName({ id: ID, name })).toBe(shown);
});

it("is cut to sixty characters", () => {
  expect(neutralName({ id: ID, name: "word ".repeat(60) }).length).toBeLessThanOrEqual(60);
});
