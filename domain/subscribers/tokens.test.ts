import { expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { confirmHash, isOwnToken, newConfirmToken, newSecret, ownToken, subscriberOf } from "./tokens.ts";

it("a subscriber's token is its own and nobody else's", () => {
  const [id, secret] = [newId(), newSecret()];
  const token = ownToken(id, secret);
  expect(token).toMatch(/^[\w-]{64}$/);
  expect(subscriberOf(token)).toBe(id);
  expect(isOwnToken(token, secret)).toBe(true);
  expect(isOwnToken(token, newSecret())).toBe(false);
  expect(isOwnToken(ownToken(newId(), newSecret()), secret)).toBe(false);
});

it.each(["", "x", "a".repeat(63), "a".repeat(65), `${"a".repeat(63)}!`])("is no token: %s", (text) => {
  expect(subscriberOf(text)).toBeNull();
});

it("of a confirmation only the hash need be kept", () => {
  const { token, hash } = newConfirmToken();
  expect(confirmHash(token)).toEqual(hash);
  expect(newConfirmToken().token).not.toBe(token);
});
