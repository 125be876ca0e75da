import { expect, it } from "vitest";
import { smtpOptions } from "./smtp-options.ts";

const settings = { caFile: null, connections: 5 };

it.each([
  { url: "smtp://mail.example.com", host: "mail.example.com", port: 587, secure: false, requireTLS: false, verified: true },
  { url: "smtp://u:p@mail.example.com", host: "mail.example.com", port: 587, secure: false, requireTLS: true, verified: true },
  { url: "smtps://u:p@mail.example.com", host: "mail.example.com", port: 465, secure: true, requireTLS: false, verified: true },
  { url: "smtp://u:p@mail.example.com:2525", host: "mail.example.com", port: 2525, secure: false, requireTLS: true, verified: true },
  { url: "smtp://u:p@localhost:25", host: "localhost", port: 25, secure: false, requireTLS: false, verified: false },
  { url: "smtp://127.0.0.1:25", host: "127.0.0.1", port: 25, secure: false, requireTLS: false, verified: false },
  { url: "smtp://u:p@[::1]:25", host: "::1", port: 25, secure: false, requireTLS: false, verified: false },
  { url: "smtp://u:p@127.0.0.1.example.com", host: "127.0.0.1.example.com", port: 587, secure: false, requireTLS: true, verified: true },
])("$url", ({ url, verified, ...expected }) => {
  expect(smtpOptions({ ...settings, url })).toMatchObject({ ...expected, tls: { rejectUnauthorized: verified } });
});

it("reads percent-encoded credentials", () => {
  expect(smtpOptions({ ...settings, url: "smtp://me%40example.com:p%2Fw%3A%20d@mail.example.com" })).toMatchObject({ auth: { user: "me@example.com", pass: "p/w: d" } });
});
