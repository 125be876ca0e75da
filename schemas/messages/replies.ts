/** Results of a processor for the requests that wait at one edge: tagged, version 1, sent over the log on the edge's own channel. */
export interface RepliesMessage {
  edgeId: string;
  results: { requestNumber: number; /** The JSON body to answer with. */ body: string }[];
}

export function encodeReplies({ edgeId, results }: RepliesMessage): Buffer {
  return Buffer.from(`${headOf(edgeId)}${JSON.stringify({ results }).slice(1)}`);
}

function headOf(edgeId: string): string {
  return `${JSON.stringify({ type: "replies", version: 1, edgeId }).slice(0, -1)},`;
}

/** Tells replies to this edge from those to others by their first bytes: reading all of them would cost each edge what all edges are sent. */
export function repliesTo(edgeId: string): (bytes: Uint8Array) => boolean {
  const head = Buffer.from(headOf(edgeId));
  return (bytes) => head.equals(bytes.subarray(0, head.byteLength));
}

/** Throws on bytes that are no replies of a known version. */
export function decodeReplies(bytes: Uint8Array): RepliesMessage {
  const message = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as RepliesMessage & { type: string; version: number };
  if (message.type !== "replies" || message.version !== 1) throw new Error(`a message of type ${message.type} version ${message.version} is not known to this Pharos`);
  return message;
}
