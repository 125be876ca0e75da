import { randomBase62 } from "../../platform/ids.ts";

/** A public key: it names where a beacon belongs and protects nothing. */
export function makeBeaconKey(): string {
  return `bpk_${randomBase62(24)}`;
}

export function isWellFormedBeaconKey(text: string): boolean {
  return /^bpk_[0-9A-Za-z]{24}$/.test(text);
}
