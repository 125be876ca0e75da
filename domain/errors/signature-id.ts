import { derivedId } from "../../platform/ids.ts";
import { remember } from "./remember.ts";

const derived = remember(20_000, (text) => derivedId(...text.split(" ")));

/** The id of a signature follows from what makes it one, so that no processor has to look it up. */
export function signatureId(serviceId: string, groupingVersion: string, fingerprint: string): string {
  return derived(`${serviceId} ${groupingVersion} ${fingerprint}`);
}
