/** Cuts texts of one event to their limits and remembers whether anything was lost. */
export interface Cutter {
  /** The text in at most so many UTF-8 bytes, without what Postgres and ClickHouse cannot hold. */
  text(value: string | null | undefined, maxBytes: number): string;
  /** The first `max` of the items. */
  list<T>(items: T[], max: number): T[];
  /** Says that something was left out elsewhere. */
  lost(): void;
  truncated(): boolean;
}

const encoder = new TextEncoder();
/** NUL is refused by Postgres; half a surrogate pair is no character and no JSON for it. */
const SUSPICIOUS = /[\0\ud800-\udfff]/;

export function makeCutter(): Cutter {
  let truncated = false;
  return {
    text(value, maxBytes) {
      if (!value) return "";
      // A UTF-16 unit takes at most three bytes, so short texts need not be measured.
      let kept = value;
      if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
        truncated = true;
        kept = firstBytes(value, maxBytes);
      }
      return SUSPICIOUS.test(kept) ? Buffer.from(kept).toString().replaceAll("\0", "\ufffd") : kept;
    },
    list(items, max) {
      if (items.length <= max) return items;
      truncated = true;
      return items.slice(0, max);
    },
    lost() {
      truncated = true;
    },
    truncated: () => truncated,
  };
}

/** As many whole characters as fit. */
function firstBytes(text: string, maxBytes: number): string {
  const bytes = new Uint8Array(maxBytes);
  const { written } = encoder.encodeInto(text, bytes);
  return Buffer.from(bytes.buffer, 0, written).toString();
}
