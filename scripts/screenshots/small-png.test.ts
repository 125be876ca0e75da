import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { smallPng } from "./small-png.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const WIDTH = 7;
const HEIGHT = 5;

/** Nobody reads the checksums here. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
}

/** RGBA as a screenshot is, each row by the given filter. */
function screenshot(pixels: number[], filter: number, width = WIDTH): Buffer {
  const stride = width * 4;
  const bytes = pixels.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255, 255]);
  const at = (index: number, x: number) => (x < 0 || index < 0 ? 0 : bytes[index]!);
  const rows = Array.from({ length: bytes.length / stride }, (_, y) =>
    Buffer.from([
      filter,
      ...Array.from({ length: stride }, (_, x) => {
        const index = y * stride + x;
        const [left, above, corner] = [at(index - 4, x - 4), at(index - stride, x), at(index - stride - 4, x - 4)];
        const nearest = [left, above, corner].toSorted((one, other) => Math.abs(left + above - corner - one) - Math.abs(left + above - corner - other))[0]!;
        return (bytes[index]! - [0, left, above, (left + above) >> 1, nearest][filter]!) & 255;
      }),
    ]),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(rows.length, 4);
  head.set([8, 6], 8);
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}

/** The colors of a PNG with a palette and without filters. */
function colorsOf(png: Buffer): number[] {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) chunks.set(png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const [head, palette, rows] = [chunks.get("IHDR")!, chunks.get("PLTE")!, inflateSync(chunks.get("IDAT")!)];
  const width = head.readUInt32BE(0);
  return [...rows].flatMap((name, at) => (at % (width + 1) === 0 ? [] : [palette.readUIntBE(name * 3, 3)]));
}

describe("a screenshot with a palette", () => {
  const few = Array.from({ length: WIDTH * HEIGHT }, (_, at) => [0xfafafa, 0xffffff, 0x18794e, 0x000001, 0xc4232a][(at * at) % 5]!);

  it.each([0, 1, 2, 3, 4])("has the same pixels, whichever filter its rows had: %i", (filter) => {
    expect(colorsOf(smallPng(screenshot(few, filter)))).toEqual(few);
  });

  it("keeps the colors of areas apart when there are too many colors, and gives the others their neighbours", () => {
    const smooth = Array.from({ length: 600 }, (_, at) => (at % 256 << 16) | (at % 256 << 8) | (at < 256 ? 0 : at < 512 ? 1 : 2));
    const pixels = [...Array<number>(300).fill(0xffffff), ...Array<number>(300).fill(0xfffffe), ...smooth];
    const drawn = colorsOf(smallPng(screenshot(pixels, 0, 100)));
    expect(drawn.slice(0, 600)).toEqual(pixels.slice(0, 600));
    expect(new Set(drawn).size).toBeLessThanOrEqual(256);
    for (const [at, color] of drawn.entries()) expect(Math.abs((color >> 16) - (pixels[at]! >> 16))).toBeLessThanOrEqual(6);
  });

  it("stays as it is when its colors run into each other", () => {
    const rainbow = screenshot(Array.from({ length: 20_000 }, (_, at) => ((at * 7919) % 0xffffff)), 0, 100);
    expect(smallPng(rainbow)).toBe(rainbow);
  });
});
