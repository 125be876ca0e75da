import { z } from "zod";

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const MOST = 20;

/** Headers that people add to requests of ours; `reserved` are those that each `sender` (a delivery, a request) sets itself. */
export function requestHeaders({ reserved, sender }: { reserved: RegExp; sender: string }) {
  return z.record(z.string(), z.string().max(4096)).meta({ maxProperties: MOST }).superRefine((headers, context) => {
    const fault = (message: string, ...path: string[]) => context.addIssue({ code: "custom", message, path });
    const names = Object.keys(headers);
    if (names.length > MOST) return fault(`must be at most ${MOST} headers`);
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length) fault("must name each header once, whatever its case");
    for (const [name, value] of Object.entries(headers)) {
      if (!HEADER_NAME.test(name)) fault("is no valid header name", name);
      else if (reserved.test(name)) fault(`is a header that each ${sender} sets itself`, name);
      else if (!HEADER_VALUE.test(value)) fault("must be printable ASCII", name);
    }
  });
}
