/** Results of a processor for the requests that wait at one edge: tagged, version 1, sent over the log's broadcast. */
export interface RepliesMessage {
  edgeId: string;
  results: { requestNumber: number; /** The JSON body to answer with. */ body: string }[];
}

export function encodeReplies(message: RepliesMessage): Buffer {
  return Buffer.from(JSON.stringify({ type: "replies", version: 1, ...message }));
}

/** Throws on bytes that are no replies of a known version. */
export function decodeReplies(bytes: Uint8Array): RepliesMessage {
  const message = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as RepliesMessage & { type: string; version: number };
  if (message.type !== "replies" || message.version !== 1) throw new Error(`a message of type ${message.type} version ${message.version} is not known to this Pharos`);
  return message;
}
