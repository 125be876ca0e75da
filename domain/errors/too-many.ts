import type { GroupingPart } from "../../schemas/frames.ts";
import { signatureId } from "./signature-id.ts";

/** No event is grouped under this version, so no event can be sent into the signature. */
const VERSION = "excess-v1";
const FINGERPRINT = "too-many-different-errors";
const MESSAGE = "Too many different errors";

/** Events past the bound of environments are in this one. */
export const OTHER_ENVIRONMENT = "other";

/** The signature of a service that counts what is past its bound of signatures. */
export function tooManyId(serviceId: string): string {
  return signatureId(serviceId, VERSION, FINGERPRINT);
}

/** What that signature says of itself. It has no frames, so no source map moves it. */
export const TOO_MANY = {
  grouping_version: VERSION,
  fingerprint: FINGERPRINT,
  type: "Error",
  message: MESSAGE,
  culprit: null,
  category: "javascript",
  handled: true,
  stack_trace: "",
  causes: "[]",
  debug_ids: "",
  frames: [],
  grouping_parts: [{ kind: "message", value: MESSAGE }] as GroupingPart[],
} as const;
