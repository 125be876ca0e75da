/** What is known of a mail that was not taken: SMTP's reply code (RFC 5321), to which command it was the answer, and nodemailer's word for the kind of failure. */
export interface Refusal {
  responseCode?: number | undefined;
  command?: string | undefined;
  code?: string | undefined;
}

export interface Judgement {
  /** Another try would meet the same. */
  permanent: boolean;
  /** It is about the recipient, or about this mail to it. */
  bounced: boolean;
}

/** Commands whose refusal is about the one mail. A refused login or sender is the operator's to mend, for which there is time until the last retry. */
const OF_THE_MAIL = new Set(["RCPT TO", "DATA"]);

/** Pure: 5xx for the recipient or the text is permanent; 4xx, a lost connection and what is wrong between the servers is not. */
export function judgeRefusal({ responseCode, command, code }: Refusal): Judgement {
  const refused = responseCode !== undefined && responseCode >= 500 && OF_THE_MAIL.has(command ?? "");
  // Found by the client itself: an address that cannot be one, a text larger than the server says it takes.
  const impossible = responseCode === undefined && (code === "EENVELOPE" || code === "EMESSAGE") && (command === "API" || command === "MAIL FROM");
  return { permanent: refused || impossible, bounced: refused };
}
