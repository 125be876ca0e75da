/** The digests that forgers can collide, by the object identifiers of signature algorithms that use them, in hexadecimal as DER has them. */
const BROKEN: Record<string, string> = {
  "2a864886f70d010102": "MD2",
  "2a864886f70d010103": "MD4",
  "2a864886f70d010104": "MD5",
  "2a864886f70d010105": "SHA-1",
  "2b0e03021d": "SHA-1",
  "2a8648ce380403": "SHA-1",
  "2a8648ce3d0401": "SHA-1",
};

/** The broken digest that a certificate (in DER) is signed with, else null. Node tells everything of a certificate but this. */
export function brokenDigest(certificate: Buffer): string | null {
  // Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER … } … } (RFC 5280)
  const outer = elementAt(certificate, 0);
  const signed = elementAt(certificate, outer.start);
  const algorithm = elementAt(certificate, signed.end);
  const identifier = elementAt(certificate, algorithm.start);
  return BROKEN[certificate.toString("hex", identifier.start, identifier.end)] ?? null;
}

/** Where the content of the element at `offset` starts and ends. */
function elementAt(der: Buffer, offset: number): { start: number; end: number } {
  const first = der[offset + 1] ?? 0;
  const bytes = first < 0x80 ? 0 : first & 0x7f;
  const start = offset + 2 + bytes;
  const length = bytes === 0 ? first : der.readUIntBE(offset + 2, bytes);
  return { start, end: start + length };
}
