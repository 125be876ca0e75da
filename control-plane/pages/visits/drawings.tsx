import { LRUCache } from "lru-cache";
import { renderToString } from "preact-render-to-string";
import type { PageSettings } from "../../../domain/status-pages/find-page.ts";
import { lookOf, type Look } from "../../../domain/status-pages/look.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { PAGE_LANGUAGES, type PageLanguage } from "../../../schemas/vocabulary.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { makeDrawing, type Drawing } from "../documents/drawing.ts";
import { finishDrawing, sizeOf, type Drawn } from "./drawn.ts";
import { Frame } from "../documents/frame.tsx";
import type { Held } from "./kept-models.ts";
import type { NamedPage } from "./page-name.ts";
import { pageSecurityPolicy } from "../looks/security-policy.ts";
import { pageStyle, type StyleSheets } from "../looks/style.ts";
import type { View } from "./views.tsx";

interface DrawingsNeeds {
  config: Config;
  clock: Clock;
  sheets: StyleSheets;
  /** Path of the pages' script, with its version. */
  script: string;
}

interface DrawingOptions {
  settings: PageSettings;
  named: NamedPage;
  /** Of the model among those of its view. */
  key: string;
  language: PageLanguage;
  /** Whether the visitor chose it on the page, so that its links have to carry it on. */
  chosen: boolean;
  /** What a link to a private page carries. */
  access: string | null;
  preview: boolean;
}

export interface Drawings {
  draw<Model>(view: View<Model>, held: Held<Model>, options: DrawingOptions): Promise<Drawn>;
}

/** Keeps what was drawn of each model, compressed, for each language and address, within a bound of bytes; previews are drawn each time. */
export function makeDrawings({ config, clock, sheets, script }: DrawingsNeeds): Drawings {
  const kept = new LRUCache<string, { drawn: Drawn; model: unknown }>({ maxSize: config.PAGE_CACHE_MB * 1_048_576, sizeCalculation: ({ drawn }) => sizeOf(drawn) });
  const running = new Map<string, { done: Promise<Drawn>; model: unknown }>();

  function drawNow<Model>(view: View<Model>, { model, staleSince }: Held<Model>, options: DrawingOptions, before: Drawn | undefined): Promise<Drawn> {
    const look = lookOf(options.settings, options);
    const drawing = drawingFor(look, options, staleSince);
    const made = view.draw(model, drawing);
    if (made.kind === "text") return finishDrawing({ type: made.type, body: Buffer.from(made.text), headers: {} }, { before, now: clock.now() });
    const style = pageStyle(sheets, look);
    const indexed = options.settings.page.visibility === "public" && !options.preview;
    const document = (
      <Frame drawing={drawing} title={made.title} description={made.description} style={style} script={script} indexed={indexed}>
        {made.body}
      </Frame>
    );
    const headers = { "Content-Security-Policy": pageSecurityPolicy(look, style) };
    return finishDrawing({ type: "text/html; charset=utf-8", body: Buffer.from(`<!doctype html>${renderToString(document)}`), headers }, { before, now: clock.now() });
  }

  function drawingFor(look: Look, { settings, named, language, chosen, access, preview }: DrawingOptions, staleSince: number | null): Drawing {
    const carried = access === null ? "" : `?access=${encodeURIComponent(access)}`;
    return makeDrawing({
      look,
      language,
      timezone: settings.timezone,
      addresses: pageAddresses({ origin: "", base: named.base, access, lang: chosen ? language : null }),
      absolute: pageAddresses({ origin: named.origin, base: named.base, access }),
      access,
      startPage: `${publicUrl(config)}/`,
      subscribeAt: config.SMTP_URL !== null && settings.page.showSubscribeForm ? `/pages/${settings.page.slug}/subscribers${carried}` : null,
      languages: settings.page.matchVisitorLanguage ? PAGE_LANGUAGES : [],
      preview,
      staleSince: staleSince === null ? null : new Date(staleSince).toISOString(),
    });
  }

  return {
    async draw<Model>(view: View<Model>, held: Held<Model>, options: DrawingOptions) {
      const { settings, named, key, language, chosen, access, preview } = options;
      if (preview) return drawNow(view, held, options, undefined);
      const name = [settings.page.id, settings.page.updatedAt.getTime(), settings.published?.id, view.path, key, named.origin, named.base, language, chosen, access, held.staleSince].join(" ");
      const known = kept.get(name);
      if (known && known.model === held.model) return known.drawn;
      const busy = running.get(name);
      if (busy && busy.model === held.model) return busy.done;
      const done = drawNow(view, held, options, known?.drawn).then((drawn) => {
        kept.set(name, { drawn, model: held.model });
        return drawn;
      });
      running.set(name, { done, model: held.model });
      return done.finally(() => {
        if (running.get(name)?.done === done) running.delete(name);
      });
    },
  };
}
