import type { ComponentChildren } from "preact";
import { sanitizePageHtml } from "../../../domain/designs/check-html.ts";
import type { Drawing } from "./drawing.ts";
import { Branding } from "../sections/footer.tsx";

interface PageBodyProps {
  drawing: Drawing;
  header: ComponentChildren;
  footer: ComponentChildren;
  /** Whether the children hold the main landmark already: a document has one. */
  ownMain?: boolean;
  children: ComponentChildren;
}

/**
 * The element around what an owner wrote, of a name that nothing in there has. Browsers close tags of HTML that is nested wrongly
 * (tables in tables, headings in headings) earlier than they were written, and a left-over end tag then closes the next element of its
 * name outside; this one has no end tag in there.
 */
export const OWN = "own-markup" as "div";

/** What every view of a status page has around it: its owner's header and footer, and whose software it is. */
export function PageBody({ drawing, header, footer, ownMain = false, children }: PageBodyProps) {
  const { look } = drawing;
  const Main = ownMain ? OWN : "main";
  return (
    <>
      <Own html={look.headerHtml} />
      {header && <header class="top">{header}</header>}
      <Main id="main" tabindex={-1}>
        {children}
      </Main>
      <footer class="bottom">
        {footer}
        <Branding drawing={drawing} />
      </footer>
      <Own html={look.footerHtml} />
    </>
  );
}

/** HTML of the page's owner, sanitised here whatever was checked when it was saved. */
function Own({ html }: { html: string | null }) {
  return html === null ? null : <OWN class="custom" dangerouslySetInnerHTML={{ __html: sanitizePageHtml(html) }} />;
}
