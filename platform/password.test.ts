import { expect, it } from "vitest";
import { hashPassword, verifyPassword } from "./password.ts";

it("knows the password again, and no other", async () => {
  const kept = await hashPassword("pässwort 🚢");
  expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,/);
  expect(await verifyPassword(kept, "pässwort 🚢")).toBe(true);
  expect(await verifyPassword(kept, "passwort 🚢")).toBe(false);
});

it("keeps the same password as another text each time", async () => {
  expect(await hashPassword("same")).not.toBe(await hashPassword("same"));
});
