/** At most so many UTF-16 units; no character is cut in halves, which no JSON of Postgres takes. */
export function cutWhole(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
