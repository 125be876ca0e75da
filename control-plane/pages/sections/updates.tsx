import type { PublicUpdate } from "../../../domain/status-pages/public-page.ts";
import type { IncidentStatus, MaintenanceStatus } from "../../../schemas/vocabulary.ts";
import type { Drawing } from "../documents/drawing.ts";
import { capitalWord } from "../documents/words.ts";
import { Message } from "./message.tsx";
import { Moment } from "./moment.tsx";

interface UpdatesProps {
  drawing: Drawing;
  updates: readonly PublicUpdate<IncidentStatus | MaintenanceStatus>[];
}

/** What was said about an incident or a maintenance, newest first. */
export function Updates({ drawing, updates }: UpdatesProps) {
  if (updates.length === 0) return null;
  return (
    <ol class="updates">
      {updates.map(({ status, message, createdAt }) => (
        <li>
          <Message text={message} />
          <p class="quiet">
            {capitalWord(status, drawing.language)} · <Moment at={createdAt} formats={drawing.formats} />
          </p>
        </li>
      ))}
    </ol>
  );
}
