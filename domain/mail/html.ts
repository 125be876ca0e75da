/** Text that is HTML already. */
export interface Html {
  readonly html: string;
}

type Piece = string | Html | readonly Html[];

/** HTML from a template: what is filled in is text, and escaped, unless it is `Html` itself. */
export function html(parts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return { html: parts.reduce((all, part, at) => all + render(pieces[at - 1]!) + part) };
}

/** Text of several lines, each on its own. */
export function lines(text: string): Html {
  return { html: escape(text).replaceAll(/\r\n|\r|\n/g, "<br>") };
}

function render(piece: Piece): string {
  if (typeof piece === "string") return escape(piece);
  return "html" in piece ? piece.html : piece.map((each) => each.html).join("");
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}
