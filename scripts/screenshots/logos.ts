/** A kite in the wind and the name in strokes, so that it looks the same whatever fonts there are. */
function logo(mark: string, letters: string, dark = letters): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="193" height="44" viewBox="5 0 193 44">
<style>.n{stroke:${letters}}@media (prefers-color-scheme:dark){.n{stroke:${dark}}}</style>
<path d="M22 3 39 20 22 41 5 20z" fill="${mark}"/><path d="M22 3v38M5 20h34" stroke="#fff" stroke-opacity=".55" stroke-width="1.5" fill="none"/>
<g class="n" fill="none" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
<path d="M54 32V13l13 19V13"/><circle cx="81" cy="25.5" r="6.5"/><path d="M95 32V19m0 6c0-4 3-6 7-6"/><circle cx="112" cy="25.5" r="6.5"/><path d="M118.5 11v21"/>
<path d="m126 19 4.5 13L135 20l4.5 12L144 19"/><path d="M152 19v13M152 12.5v.1"/><path d="M160 32V19m0 6c0-8 11-8 11 0v7"/><circle cx="184" cy="25.5" r="6.5"/><path d="M190.5 11v21"/>
</g></svg>`;
}

/** By file name. */
export const LOGOS: Record<string, string> = {
  "nordwind.svg": logo("#0f766e", "#134e4a", "#e6fffb"),
  "nordwind-on-brand.svg": logo("#f59e0b", "#ffffff"),
};
