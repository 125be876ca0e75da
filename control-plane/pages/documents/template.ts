import { sanitizePageHtml } from "../../../domain/designs/check-html.ts";
import { SECTION_TYPES, type SectionType } from "../../../schemas/vocabulary.ts";

/**
 * A template with its placeholders replaced by sections' HTML, which `draw` makes. The template is sanitised first, whatever
 * was checked when it was saved; placeholders stand between tags only, and what a section holds is not searched for more of them.
 */
export function fillTemplate(html: string, draw: (section: SectionType) => string): string {
  const sections: readonly string[] = SECTION_TYPES;
  return sanitizePageHtml(html).replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_placeholder, name: string) => (sections.includes(name) ? draw(name as SectionType) : ""));
}
