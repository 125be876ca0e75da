import { describe, expect, it } from "vitest";
import { isWellFormedBeaconKey, makeBeaconKey } from "../beacon-keys/format.ts";
import { hashApiKey, isWellFormedApiKey, makeApiKey } from "./format.ts";

describe("an API key", () => {
  it("has the documented form, a prefix for display and its hash", () => {
    const { key, prefix, hash } = makeApiKey();
    expect(key).toMatch(/^psk_[0-9A-Za-z]{40}$/);
    expect(prefix).toBe(key.slice(0, 12));
    expect(hash).toEqual(hashApiKey(key));
    expect(hash).toHaveLength(32);
  });

  it("is well formed when made here", () => {
    for (let n = 0; n < 500; n++) expect(isWellFormedApiKey(makeApiKey().key)).toBe(true);
  });

  it("is recognised as mistyped when any one character is another", () => {
    const { key } = makeApiKey();
    for (let at = 4; at < key.length; at++) {
      const typo = key.slice(0, at) + (key[at] === "x" ? "y" : "x") + key.slice(at + 1);
      expect(isWellFormedApiKey(typo)).toBe(false);
    }
  });

  it.each(["", "psk_", "psk_é", `psk_${"a".repeat(40)}`, `bpk_${"a".repeat(24)}`, `${makeApiKey().key} `, `${makeApiKey().key}\n`])("is not %j", (text) => {
    expect(isWellFormedApiKey(text)).toBe(false);
  });
});

describe("a beacon key", () => {
  it("has the documented form", () => {
    expect(makeBeaconKey()).toMatch(/^bpk_[0-9A-Za-z]{24}$/);
    expect(isWellFormedBeaconKey(makeBeaconKey())).toBe(true);
    expect(isWellFormedBeaconKey("bpk_short")).toBe(false);
  });
});
