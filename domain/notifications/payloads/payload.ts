import type { Config } from "../../../platform/config.ts";
import type { ChannelConfig } from "../../channels/mask-config.ts";
import type { Notice } from "../notice.ts";

/** The operator's settings that payloads need. */
export type PayloadSettings = Pick<Config, "SMS_GATEWAY_URL" | "SMS_FROM" | "PAGERDUTY_EVENTS_URL" | "WEBHOOK_ALLOW_HTTP">;

export interface PayloadInput {
  config: ChannelConfig;
  notice: Notice;
  /** What the notice was made of, for who wants it as it is: its id is the same in every attempt. */
  origin: { id: string; event: string; at: Date; data: Record<string, unknown> };
  settings: PayloadSettings;
  /** When it is sent. */
  at: Date;
}

export type Payload =
  | {
      kind: "request";
      url: string;
      headers: Record<string, string>;
      body: string;
      /** Plain http is the operator's to allow: by WEBHOOK_ALLOW_HTTP, or by naming such an address in a setting. */
      allowHttp: boolean;
    }
  /** It cannot be sent at all; the sentence says who has to do what. */
  | { kind: "unsendable"; error: string };
