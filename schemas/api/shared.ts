import { z } from "zod";

/** An id in a path. Any text parses: a malformed one is simply not found (conventions §1). */
export const PathId = z.object({ id: z.string() });

/** A timestamp as it travels: ISO 8601 in UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ offset: true });

/** What is shown to people has no use for them, and JSON writes six bytes for each. */
const isFreeOfControls = (text: string) => !/[^\P{Cc}\t\n\r]/u.test(text);
const NO_CONTROLS = "may hold no control characters other than tabs and line breaks";

/** A step of a workflow is also shown by its schema: what was stored before control characters were refused must pass. */
export const StepTitle = z.string().trim().min(1).max(255);
export const StepText = z.string().max(10_000);

export const Name = StepTitle.refine(isFreeOfControls, NO_CONTROLS);
export const FreeText = StepText.refine(isFreeOfControls, NO_CONTROLS);

/** A code that was sent to somebody, given back as a proof. */
export const Code = z.string().regex(/^\d{6}$/, "must be six digits").meta({ description: "The code that was sent.", example: "123456" });

export const Success = z.object({ success: z.literal(true) });
export const SuccessWithMessage = Success.extend({ message: z.string() });

/** A `limit` that is clamped into its range; text that is no integer is refused. */
export function limit(fallback: number, maximum: number) {
  return z
    .string()
    .regex(/^-?\d+$/, "must be an integer")
    .transform((text) => Math.min(Math.max(Number(text), 1), maximum))
    .default(fallback);
}

export const Offset = z
  .string()
  .regex(/^-?\d+$/, "must be an integer")
  .transform((text) => Math.min(Math.max(Number(text), 0), Number.MAX_SAFE_INTEGER))
  .default(0);

/** Of the updates of an incident or of a maintenance window, by pages. */
export const UpdateListQuery = z.strictObject({ limit: limit(50, 100), offset: Offset });
export type UpdateListQuery = z.infer<typeof UpdateListQuery>;

/** Describes the updates that an incident or a maintenance window shows (`UPDATES_SHOWN`). */
export const SHOWN_UPDATES =
  "The newest 100 of at most 96 KiB of text, newest first; a list shows 1 MiB of text in all. Each shows its newest. `GET …/{id}/updates` lists all.";
export const UpdatesTotal = z.int().meta({ description: "How many updates it has, those that are not shown counted.", example: 1 });
