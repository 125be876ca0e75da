import { describe, expect, it } from "vitest";
import { makeSeal } from "./seal.ts";

const seal = makeSeal({ apiKey: "psk_a", idempotencyKey: "order-1" });

describe("a sealed answer", () => {
  it("is opened by the same secrets, and shows nothing", () => {
    const sealed = seal.close('{"key":"psk_secret"}', 201);
    expect(Buffer.from(sealed.data, "base64").toString("latin1")).not.toContain("psk_secret");
    expect(makeSeal({ apiKey: "psk_a", idempotencyKey: "order-1" }).open(sealed, 201)).toBe('{"key":"psk_secret"}');
  });

  it("is never sealed alike twice", () => {
    expect(seal.close("a", 200)).not.toEqual(seal.close("a", 200));
  });

  it.each([
    { name: "another API key", other: makeSeal({ apiKey: "psk_b", idempotencyKey: "order-1" }), status: 200 },
    { name: "another idempotency key", other: makeSeal({ apiKey: "psk_a", idempotencyKey: "order-2" }), status: 200 },
    { name: "another status", other: seal, status: 201 },
  ])("is not opened with $name", ({ other, status }) => {
    expect(() => other.open(seal.close("secret", 200), status)).toThrow();
  });

  it("is not opened once changed", () => {
    const sealed = seal.close("secret", 200);
    expect(() => seal.open({ ...sealed, data: Buffer.from("public").toString("base64") }, 200)).toThrow();
    expect(() => seal.open({ ...sealed, tag: sealed.tag.slice(0, 8) }, 200)).toThrow();
  });
});

describe("a request's hash", () => {
  it("is the same for the same request and secrets only", () => {
    expect(seal.hash("POST /a {}")).toEqual(seal.hash("POST /a {}"));
    expect(seal.hash("POST /a {}")).not.toEqual(seal.hash("POST /b {}"));
    expect(seal.hash("POST /a {}")).not.toEqual(makeSeal({ apiKey: "psk_b", idempotencyKey: "order-1" }).hash("POST /a {}"));
  });
});
