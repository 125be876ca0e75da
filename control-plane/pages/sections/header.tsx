import type { Drawing } from "../documents/drawing.ts";

interface HeaderProps {
  drawing: Drawing;
  page: { name: string; tagline: string | null };
  /** Whether the name is the heading of what follows; else a link to the page. */
  heading: boolean;
}

/** Whose page it is. */
export function Header({ drawing: { look, addresses }, page: { name, tagline }, heading }: HeaderProps) {
  const mark = look.logoUrl === null ? <bdi>{name}</bdi> : <img class="logo" src={look.logoUrl} alt={name} />;
  return (
    <div class="head">
      {heading ? (
        <h1>{mark}</h1>
      ) : (
        <p class="name">
          <a href={addresses.home}>{mark}</a>
        </p>
      )}
      {tagline && (
        <p class="tagline">
          <bdi>{tagline}</bdi>
        </p>
      )}
    </div>
  );
}
