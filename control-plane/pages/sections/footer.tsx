import { remember } from "../../../platform/remember.ts";
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import type { Drawing } from "../documents/drawing.ts";
import { fillIn } from "../messages/all.ts";
import { Filled } from "./filled.tsx";

/** Ways to follow the page, its languages, its time zone. */
export function Footer({ drawing }: { drawing: Drawing }) {
  const { words, addresses, timezone } = drawing;
  return (
    <div class="foot">
      <nav aria-label={words.follow}>
        <ul class="links">
          <li>
            <a href={addresses.history()}>{words.history}</a>
          </li>
          <li>
            <a href={addresses.rss}>RSS</a>
          </li>
          <li>
            <a href={addresses.atom}>Atom</a>
          </li>
          <li>
            <a href={addresses.jsonFeed}>JSON Feed</a>
          </li>
          <li>
            <a href={addresses.calendar}>{words.calendar}</a>
          </li>
        </ul>
      </nav>
      <p data-zone={words.times_in}>{fillIn(words.times_in, { zone: timezone.replaceAll("_", " ") })}</p>
      <Languages drawing={drawing} />
    </div>
  );
}

function Languages({ drawing: { words, languages, language, addresses, access } }: { drawing: Drawing }) {
  if (languages.length < 2) return null;
  return (
    <form method="get" action={addresses.home} class="languages">
      {access !== null && <input type="hidden" name="access" value={access} />}
      <label for="lang">{words.language}</label>
      <select id="lang" name="lang">
        {languages.map((each) => (
          <option value={each} lang={each} selected={each === language}>
            {ownName(each)}
          </option>
        ))}
      </select>
      <button type="submit">{words.choose_language}</button>
    </form>
  );
}

/** What speakers of a language call it; remembered, because asking takes longer than drawing all the rest. */
const ownName = remember((language) => new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language, PAGE_LANGUAGES.length);

/** Whose software it is; shown unless the page's owner hides it. */
export function Branding({ drawing: { words, look, startPage } }: { drawing: Drawing }) {
  if (!look.branding) return null;
  return (
    <p class="branding">
      <Filled message={words.made_with} name="product">
        <a href={startPage}>Pharos</a>
      </Filled>
    </p>
  );
}
