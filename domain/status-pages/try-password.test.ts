import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { hashPassword } from "../../platform/password.ts";
import { PAGE_VISIBILITIES } from "../../schemas/vocabulary.ts";
import { makeTryPassword } from "./try-password.ts";

const LONGEST = randomBytes(128).toString("hex").slice(0, 255);

let passwordHash: string;
let longest: string;
beforeAll(async () => {
  [passwordHash, longest] = await Promise.all([hashPassword("open sesame"), hashPassword(LONGEST)]);
});

const locked = () => ({ visibility: "password" as const, passwordHash });

describe("a password", () => {
  it.each([
    { password: "open sesame", right: true },
    { password: "Open sesame", right: false },
    { password: "open sesame ", right: false },
    { password: "", right: false },
  ])("$password is right: $right", async ({ password, right }) => {
    expect(await makeTryPassword()(locked(), password)).toBe(right);
  });

  it("is at most as long as a page's can be", async () => {
    const tryPassword = makeTryPassword();
    expect(await tryPassword({ visibility: "password", passwordHash: longest }, LONGEST)).toBe(true);
    expect(await tryPassword({ visibility: "password", passwordHash: await hashPassword(`${LONGEST}x`) }, `${LONGEST}x`)).toBe(false);
  });

  it.each(PAGE_VISIBILITIES.filter((each) => each !== "password"))("is never right for a page that is %s", async (visibility) => {
    const tryPassword = makeTryPassword();
    expect(await tryPassword({ visibility, passwordHash }, "open sesame")).toBe(false);
    expect(await tryPassword({ visibility, passwordHash: null }, "open sesame")).toBe(false);
  });
});

describe("many at once", () => {
  it("are tried in turn, and those beyond the queue are told to come again", async () => {
    const tryPassword = makeTryPassword({ atOnce: 2, waiting: 3 });
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => tryPassword(locked(), n === 4 ? "open sesame" : "wrong").catch((error: unknown) => error)));
    expect(outcomes.slice(0, 5)).toEqual([false, false, false, false, true]);
    for (const refusal of outcomes.slice(5)) expect(refusal).toMatchObject({ code: "UNAVAILABLE", details: { retryAfter: 2 } });
    // All turns were given back.
    expect(await Promise.all(Array.from({ length: 5 }, () => tryPassword(locked(), "open sesame")))).toEqual([true, true, true, true, true]);
  });

  it("cannot keep a turn by failing, nor by what is not hashed", async () => {
    const tryPassword = makeTryPassword({ atOnce: 1, waiting: 0 });
    await expect(tryPassword({ visibility: "password", passwordHash: "no hash" }, "x")).rejects.toThrow();
    const [first, unhashed, second] = await Promise.allSettled([tryPassword(locked(), "open sesame"), tryPassword(locked(), "x".repeat(256)), tryPassword(locked(), "open sesame")]);
    expect([first, unhashed, second.status]).toEqual([{ status: "fulfilled", value: true }, { status: "fulfilled", value: false }, "rejected"]);
  });
});
