/** An address in a text; what ends a sentence or closes a bracket is not part of it. */
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`]+/gi;
const ENDING = new Set(".,;:!?)]}»”’");

interface MessageProps {
  text: string;
  /** Further classes. */
  class?: string;
}

/** What somebody wrote, line by line, with its addresses as links. */
export function Message({ text, class: more }: MessageProps) {
  return <p class={more === undefined ? "message" : `message ${more}`}>{withLinks(text)}</p>;
}

function withLinks(text: string) {
  const parts: (string | ReturnType<typeof Link>)[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = trimmed(found);
    if (!URL.canParse(address)) continue;
    parts.push(text.slice(end, index), <Link address={address} />);
    end = index + address.length;
  }
  return [...parts, text.slice(end)];
}

/** A bracket that was opened within the address may close it. */
function trimmed(found: string): string {
  let end = found.length;
  // From the end: a pattern would look from each sign to the next that is no ending, over and over.
  while (end > 0 && ENDING.has(found.charAt(end - 1))) end--;
  const address = found.slice(0, end);
  const rest = found.slice(address.length);
  return rest.startsWith(")") && address.includes("(") && !address.includes(")") ? `${address})` : address;
}

function Link({ address }: { address: string }) {
  return (
    <a href={address} rel="nofollow noopener">
      {address}
    </a>
  );
}
