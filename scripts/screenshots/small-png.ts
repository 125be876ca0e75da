import { deflateSync, inflateSync } from "node:zlib";
import { crc32 } from "@node-rs/crc32";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** What a byte can name. */
const MOST_COLORS = 256;
/** Colors of areas, which stay as they are: even neighbours among them are told apart. */
const EXACT_COLORS = 32;
/** As of `distance`; a picture that needs more has colors that run into each other, of which a palette would make steps. */
const MOST_APART = 100;

interface Pixels {
  width: number;
  height: number;
  /** `0xrrggbb` of each pixel, row by row. */
  colors: Uint32Array;
}

/**
 * A screenshot of Chromium's (PNG of 8-bit RGB or RGBA without transparency, not interlaced) with a palette: less than half the bytes, and
 * the same bytes for the same pixels. Colors that are too many become their nearest neighbours; a picture of too many stays as it is.
 * Throws for any other PNG.
 */
export function smallPng(png: Buffer): Buffer {
  const { width, height, colors } = readPixels(png);
  const chosen = choosePalette(colors);
  if (!chosen) return png;
  const { palette, nearest } = chosen;
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    // The byte before a row, its filter, stays 0: names of colors have no slopes to predict.
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = nearest.get(colors[y * width + x]!)!;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8);
  const names = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", names), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function readPixels(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let head: Buffer = Buffer.alloc(0);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "IHDR") head = png.subarray(at + 8, end);
    if (type === "IDAT") parts.push(png.subarray(at + 8, end));
    at = end + 4;
  }
  const [depth, type, , , interlaced] = head.subarray(8);
  if (depth !== 8 || (type !== 2 && type !== 6) || interlaced !== 0) throw new Error("This PNG is not as Chromium writes them.");
  const [width, height, step] = [head.readUInt32BE(0), head.readUInt32BE(4), type === 2 ? 3 : 4];
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), { stride: width * step, step, height });
  const colors = new Uint32Array(width * height);
  for (let at = 0; at < colors.length; at++) colors[at] = (bytes[at * step]! << 16) | (bytes[at * step + 1]! << 8) | bytes[at * step + 2]!;
  return { width, height, colors };
}

/** Adds to each byte what was predicted from its neighbours (PNG, section 9). */
function unfilter(filtered: Buffer, { stride, step, height }: { stride: number; step: number; height: number }): Uint8Array {
  const bytes = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < step ? 0 : bytes[at - step]!;
      const above = y === 0 ? 0 : bytes[at - stride]!;
      const corner = x < step || y === 0 ? 0 : bytes[at - stride - step]!;
      bytes[at] = filtered[at + y + 1]! + [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter]!;
    }
  }
  return bytes;
}

function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove, toCorner] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** The most frequent colors, as far apart as it takes for them to be few enough; null when that is too far. */
function choosePalette(colors: Uint32Array): { palette: number[]; nearest: Map<number, number> } | null {
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const byCount = [...counts.keys()].toSorted((one, other) => counts.get(other)! - counts.get(one)! || one - other);
  let palette = byCount;
  for (let apart = 3; palette.length > MOST_COLORS; apart *= 1.5) {
    if (apart > MOST_APART) return null;
    palette = byCount.slice(0, EXACT_COLORS);
    for (const color of byCount.slice(EXACT_COLORS)) {
      if (palette.every((known) => distance(known, color) > apart)) palette.push(color);
      if (palette.length > MOST_COLORS) break;
    }
  }
  const nearest = new Map(byCount.map((color) => [color, palette.reduce((best, known, at) => (distance(known, color) < distance(palette[best]!, color) ? at : best), 0)]));
  return { palette, nearest };
}

/** Squared. */
function distance(one: number, other: number): number {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((one >> shift) & 255) - ((other >> shift) & 255));
  return red! ** 2 + green! ** 2 + blue! ** 2;
}
