import type { Drawing } from "../documents/drawing.ts";
import { Message } from "./message.tsx";

/** What the page's owner wants everybody to read first. */
export function Announcement({ drawing: { look, words } }: { drawing: Drawing }) {
  if (look.announcement === null) return null;
  const { text, type } = look.announcement;
  return (
    <section class={`notice ${type}`} aria-label={words.announcement}>
      <Message text={text} />
    </section>
  );
}
