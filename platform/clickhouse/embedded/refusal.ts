/** A statement that is refused with an error of ClickHouse's own numbering, which tells a client what went wrong. */
class Refusal extends Error {
  /** The answer's HTTP status, where it does not follow from the code. */
  readonly status: number | null;

  /** `type` is the name that belongs to the code, such as SYNTAX_ERROR. */
  constructor(code: number, type: string, sentence: string, status: number | null = null) {
    super(`Code: ${code}. DB::Exception: ${sentence} (${type})`);
    this.name = "Refusal";
    this.status = status;
  }
}

export const REFUSED = {
  syntax: (sentence: string) => new Refusal(62, "SYNTAX_ERROR", `Syntax error: ${sentence}`),
  notImplemented: (sentence: string) => new Refusal(48, "NOT_IMPLEMENTED", sentence),
  badParameter: (sentence: string) => new Refusal(457, "BAD_QUERY_PARAMETER", sentence),
  missingParameter: (name: string) => new Refusal(456, "UNKNOWN_QUERY_PARAMETER", `Substitution \`${name}\` is not set`),
  unknownSetting: (name: string) => new Refusal(115, "UNKNOWN_SETTING", `Unknown setting '${name}'`),
  noSuchColumn: (name: string, table: string) => new Refusal(16, "NO_SUCH_COLUMN_IN_TABLE", `No such column ${name} in table ${table}`),
  readOnly: () => new Refusal(164, "READONLY", "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries."),
  password: (user: string) => new Refusal(516, "AUTHENTICATION_FAILED", `${user}: Authentication failed: password is incorrect, or there is no user with such name.`),
  tooLarge: (bytes: number) => new Refusal(1001, "STD_EXCEPTION", `The request's body is larger than ${bytes} bytes.`, 413),
  queryIdInUse: (queryId: string) => new Refusal(216, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING", `Query with id = ${queryId} is already running.`),
};

// The codes that ClickHouse's HTTP handler (src/Server/HTTP/exceptionCodeToHTTPStatus) answers with another status than 500.
const BAD_REQUEST = [6, 26, 27, 33, 34, 36, 38, 39, 40, 41, 42, 43, 44, 53, 62, 69, 70, 72, 117, 130, 131, 184, 190, 321, 347, 427, 456, 457, 467, 494];
const NOT_FOUND = [8, 16, 20, 28, 46, 47, 50, 56, 60, 63, 73, 80, 81, 83, 115];
const STATUS = new Map([...BAD_REQUEST.map((code) => [code, 400] as const), ...NOT_FOUND.map((code) => [code, 404] as const), [48, 501], [125, 413], [159, 408], [162, 413], [192, 403], [193, 403], [202, 503], [307, 413], [516, 403]]);

/** What a failure of the engine becomes on the wire. */
interface ErrorAnswer {
  status: number;
  code: number;
  /** As a ClickHouse server words it: `Code: 60. DB::Exception: … (UNKNOWN_TABLE)`. */
  text: string;
}

/** Errors of the engine keep their code; anything else is code 1001, as for the server. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if ((error as NodeJS.ErrnoException | null)?.code === "ENOSPC") return errorAnswer(new Refusal(243, "NOT_ENOUGH_SPACE", "The disk of the data folder is full.", 503));
  const message = error instanceof Error ? error.message : String(error);
  // The engine sometimes wraps its own message in a second `Code: N. DB::Exception:`.
  const text = message.replace(/^(Code: \d+\. DB::Exception: )(?:Code: \d+\. DB::Exception: )+([\s\S]*?)(?: \([A-Z0-9_]+\) \(version [^)]*\)\.)? (\([A-Z0-9_]+\))$/, "$1$2 $3");
  const code = Number(/^Code: (\d+)\b/.exec(text)?.[1] ?? 1001);
  const own = error instanceof Refusal ? error.status : null;
  return { status: own ?? STATUS.get(code) ?? 500, code, text: text.startsWith("Code:") ? text : `Code: 1001. DB::Exception: ${text} (STD_EXCEPTION)` };
}
