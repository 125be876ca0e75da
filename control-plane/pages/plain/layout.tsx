import type { ComponentChildren } from "preact";
import { isRightToLeft } from "../../../domain/subscribers/messages/all.ts";

interface LayoutProps {
  title: string;
  /** Path of the style sheet, with its version. */
  styles: string;
  /** BCP 47; English unless given. */
  language?: string;
  /** False for pages of an owner who hides whose software it is. */
  branding?: boolean;
  children: ComponentChildren;
}

/** The frame of every page for people: no script, one style sheet. */
export function Layout({ title, styles, language = "en", branding = true, children }: LayoutProps) {
  return (
    <html lang={language} dir={isRightToLeft(language) ? "rtl" : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={styles} />
      </head>
      <body>
        <main>{children}</main>
        {branding && (
          <footer class="bottom">
            <p>
              Served by <a href="/">Pharos</a>
            </p>
          </footer>
        )}
      </body>
    </html>
  );
}
