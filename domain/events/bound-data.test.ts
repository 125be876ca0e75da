import { expect, it } from "vitest";
import { boundEventData } from "./bound-data.ts";

it.each([
  ["few services", { id: "a", services: ["x".repeat(255)] }],
  ["many short names", { id: "a", services: Array.from({ length: 2_500 }, (_, n) => `Service ${n}`) }],
  ["no services", { id: "a", text: "x".repeat(300_000) }],
])("data stays as it is with %s", (_, data) => expect(boundEventData(data)).toBe(data));

it("keeps as many services as fit, and says how many there are", () => {
  const services = Array.from({ length: 2_500 }, (_, n) => `${n} ${"ü".repeat(250)}`);
  const bound = boundEventData({ id: "a", message: "y".repeat(10_000), services }) as { services: string[]; services_total: number };
  expect(bound).toMatchObject({ id: "a", services_total: 2_500 });
  expect(bound.services).toEqual(services.slice(0, bound.services.length));
  const size = Buffer.byteLength(JSON.stringify(bound));
  expect(size).toBeLessThan(256 * 1_024);
  expect(size).toBeGreaterThan(230 * 1_024);
});
