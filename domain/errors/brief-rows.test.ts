import { expect, it } from "vitest";
import { makeBriefRowPacker, unpackBriefRows, type BriefRow } from "./brief-rows.ts";

const row = (number: number): BriefRow => ({
  log_id: "log", partition: 3, offset: String(Math.floor(number / 4)), index: number % 4, organization_id: "o", service_id: `service ${Math.floor(number / 3)}`, signature_id: `signature ${number % 2}`,
  event_id: `event ${number}`, event_id_given: number % 3 === 0, type: number === 5 ? "vital" : "error", received_at: "2026-01-31 12:00:00.250", occurred_at: `2026-01-31 12:00:0${number}.000`, release: number < 4 ? "" : "1.2", environment: "production",
});

it("gives back the very rows, after a journey between threads too", () => {
  for (const count of [0, 1, 2, 9]) {
    const rows = Array.from({ length: count }, (_, number) => row(number));
    const packer = makeBriefRowPacker();
    for (let at = 0; at < count; at += 4) packer.add(rows.slice(at, at + 4));
    expect(unpackBriefRows(structuredClone(packer.packed()))).toEqual(rows);
  }
});
