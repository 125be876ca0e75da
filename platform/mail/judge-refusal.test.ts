import { expect, it } from "vitest";
import { judgeRefusal } from "./judge-refusal.ts";

it.each([
  { refusal: { responseCode: 550, command: "RCPT TO", code: "EENVELOPE" }, permanent: true, bounced: true },
  { refusal: { responseCode: 554, command: "DATA", code: "EMESSAGE" }, permanent: true, bounced: true },
  { refusal: { responseCode: 450, command: "RCPT TO", code: "EENVELOPE" }, permanent: false, bounced: false },
  { refusal: { responseCode: 451, command: "DATA", code: "EMESSAGE" }, permanent: false, bounced: false },
  { refusal: { responseCode: 550, command: "MAIL FROM", code: "EENVELOPE" }, permanent: false, bounced: false },
  { refusal: { responseCode: 535, command: "AUTH PLAIN", code: "EAUTH" }, permanent: false, bounced: false },
  { refusal: { responseCode: 554, command: "CONN", code: "ECONNECTION" }, permanent: false, bounced: false },
  { refusal: { code: "ESOCKET", command: "CONN" }, permanent: false, bounced: false },
  { refusal: { code: "ETIMEDOUT" }, permanent: false, bounced: false },
  { refusal: { code: "EENVELOPE", command: "API" }, permanent: true, bounced: false },
  { refusal: { code: "EMESSAGE", command: "MAIL FROM" }, permanent: true, bounced: false },
  { refusal: {}, permanent: false, bounced: false },
])("$refusal", ({ refusal, permanent, bounced }) => {
  expect(judgeRefusal(refusal)).toEqual({ permanent, bounced });
});
