/** A frame of a stack trace as it is stored and returned (conventions §8); innermost frames come first. */
export interface Frame {
  /** Null when the engine gave no name. */
  function: string | null;
  /** As the stack printed it: a URL, a path or `native`. */
  file: string | null;
  /** 1-based; null for native frames. */
  line: number | null;
  /** 1-based; null for native frames. */
  column: number | null;
  in_app: boolean;
  original: OriginalPosition | null;
  unmapped_reason: UnmappedReason | null;
}

/** Where a source's content stands in the index of its map: the map's hash, the first byte, and how many. */
export type ContentPlace = [hash: string, start: number, bytes: number];

/** A frame as rows keep it: with the place of the source in place of the lines around it, which would take more room than all the rest. */
export interface StoredFrame extends Omit<Frame, "original"> {
  original: (Omit<OriginalPosition, "context"> & { content: ContentPlace | null }) | null;
}

export interface OriginalPosition {
  source: string;
  line: number;
  column: number;
  name: string | null;
  context: { pre: string[]; line: string; post: string[] } | null;
}

export const UNMAPPED_REASONS = ["no_release", "no_map_for_url", "position_not_in_map", "map_invalid", "not_applicable"] as const;
export type UnmappedReason = (typeof UNMAPPED_REASONS)[number];

/**
 * Whether a frame counts for the group of its error, or why not: it waits behind an asynchronous
 * call, constructs the error, is a library's beside the application's own, is the engine's or
 * eval's, repeats the call above it, or stands farther out than counts.
 */
export const FRAME_VERDICTS = ["counted", "async", "constructor", "library", "native", "eval", "repeated", "too_far"] as const;
export type FrameVerdict = (typeof FRAME_VERDICTS)[number];

/** One decision of the grouping, so that a person can see why two events are one signature. */
export interface GroupingPart {
  kind: "custom" | "type" | "frame" | "message" | "cause";
  value: string;
}
