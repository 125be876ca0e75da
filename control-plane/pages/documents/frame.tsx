import type { ComponentChildren } from "preact";
import { isRightToLeft } from "../../../domain/subscribers/messages/all.ts";
import type { Drawing } from "./drawing.ts";
import { Filled } from "../sections/filled.tsx";
import { Moment } from "../sections/moment.tsx";

interface FrameProps {
  drawing: Drawing;
  title: string;
  /** For those who show a link to it: what it says, in a sentence. */
  description: string;
  /** What the style element holds; safe to stand in one. */
  style: string;
  /** Path of the script, with its version. */
  script: string;
  /** False for pages that nobody shall find who was not told of them. */
  indexed: boolean;
  children: ComponentChildren;
}

/** The document of a status page: one style element, one deferred script that the page does not need. */
export function Frame({ drawing, title, description, style, script, indexed, children }: FrameProps) {
  const { look, language, words, addresses, preview, staleSince, formats } = drawing;
  return (
    <html lang={language} dir={isRightToLeft(language) ? "rtl" : undefined} data-mode={look.mode} data-theme={look.theme} data-header={look.header}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        {indexed && <meta name="description" content={description} />}
        {indexed && <meta property="og:title" content={title} />}
        {indexed && <meta property="og:description" content={description} />}
        {!indexed && <meta name="robots" content="noindex" />}
        <link rel="icon" href={look.faviconUrl ?? "data:,"} />
        {indexed && <link rel="alternate" type="application/rss+xml" title="RSS" href={addresses.rss} />}
        {indexed && <link rel="alternate" type="application/atom+xml" title="Atom" href={addresses.atom} />}
        {indexed && <link rel="alternate" type="application/feed+json" title="JSON Feed" href={addresses.jsonFeed} />}
        <style dangerouslySetInnerHTML={{ __html: style }} />
        <script src={script} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          {words.skip}
        </a>
        {preview && (
          <p class="notice info" role="note">
            {words.preview}
          </p>
        )}
        <div id="stale" data-live="">
          {staleSince !== null && (
            <p class="notice warning" role="alert">
              <Filled message={words.stale} name="time">
                <Moment at={staleSince} formats={formats} />
              </Filled>
            </p>
          )}
        </div>
        {children}
      </body>
    </html>
  );
}
