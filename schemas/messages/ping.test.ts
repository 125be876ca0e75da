import { describe, expect, it, test } from "vitest";
import { loggedPing, readPing, readSentPing } from "./ping.ts";

const read = (body: string | Uint8Array) => readSentPing(typeof body === "string" ? Buffer.from(body) : body);
const OK = { status: "ok", run_id: null, exit_code: null, duration_ms: null, message: null };

describe("readPing", () => {
  test.each(["", " \n", "{}", '{"status":"ok","hostname":"db1"}'])("takes %j in the log as an ok", (body) => {
    expect(readPing(Buffer.from(body))).toEqual({ kind: "read", ping: OK });
  });

  // A text that became a ping only in some version would give a replay another row.
  test.each([
    ["backup finished", "INVALID_JSON", undefined],
    ["status=ok", "INVALID_JSON", undefined],
    [new Uint8Array([0x22, 0xff, 0x22]), "INVALID_JSON", undefined],
    ["[]", "INVALID_REQUEST", ""],
    ["null", "INVALID_REQUEST", ""],
    ['"ok"', "INVALID_REQUEST", ""],
  ])("refuses %j in the log as %s", (body, code, path) => {
    const reading = readPing(typeof body === "string" ? Buffer.from(body) : body);
    expect(reading).toMatchObject({ kind: "invalid", code, ...(path !== undefined && { path }) });
    expect(reading).toHaveProperty("fix");
  });
});

describe("readSentPing", () => {
  test.each(["", " \n", "null", "ok", '"ok"', "status=ok", "{}", '{"status":"ok","hostname":"db1","status_code":5}', '{"run_id":null,"message":null}'])("takes %j as an ok", (body) => {
    expect(read(body)).toEqual({ kind: "read", ping: OK });
  });

  it("reads every field", () => {
    const body = { status: "log", run_id: "r1", exit_code: 0, duration_ms: 12.6, message: "done" };
    expect(read(JSON.stringify(body))).toEqual({ kind: "read", ping: { ...body, duration_ms: 13 } });
  });

  it("takes any exit code other than 0 for a fail", () => {
    expect(read('{"exit_code":3}')).toMatchObject({ ping: { status: "fail", exit_code: 3 } });
    expect(read('{"status":"ok","exit_code":-1}')).toMatchObject({ ping: { status: "fail", exit_code: -1 } });
    expect(read('{"status":"fail","exit_code":0}')).toMatchObject({ ping: { status: "fail" } });
  });

  it("shows an unsigned exit code of Windows as a signed one", () => {
    expect(read('{"exit_code":3221225477}')).toMatchObject({ ping: { status: "fail", exit_code: -1073741819 } });
  });

  it("cuts what is too long, and keeps what is left storable", () => {
    const long = read(JSON.stringify({ run_id: "r".repeat(500), message: `${"m".repeat(10_239)}😀`, duration_ms: 1e300 }));
    expect(long).toMatchObject({ ping: { run_id: "r".repeat(200), message: `${"m".repeat(10_239)}\uFFFD`, duration_ms: 2 ** 31 - 1 } });
    expect(read('{"message":"a\\u0000b\\ud800c😀"}')).toMatchObject({ ping: { message: "a\uFFFDb\uFFFDc😀" } });
  });

  test.each([
    ["backup finished\n", { message: "backup finished" }],
    ['"backup finished"', { message: "backup finished" }],
    ["[INFO] 3 files = 5 MB & done", { message: "[INFO] 3 files = 5 MB & done" }],
    ["message=a&other=b", { message: "message=a&other=b" }],
    [new Uint8Array([0x64, 0xe9, 0x6a]), { message: "d\uFFFDj" }],
    ["fail", { status: "fail" }],
    ['"start"', { status: "start" }],
    ["status=log&message=disk+91%25+full", { status: "log", message: "disk 91% full" }],
    ["exit_code=2&duration_ms=12.6&run_id=7", { status: "fail", exit_code: 2, duration_ms: 13, run_id: "7" }],
    ["message=5 GB in 3 files", { message: "5 GB in 3 files" }],
  ])("takes %j as text or form", (body, ping) => {
    expect(read(body)).toEqual({ kind: "read", ping: { ...OK, ...ping } });
  });

  test.each([
    ['{"status":"ok"', "INVALID_JSON", undefined],
    ["{status: ok}", "INVALID_JSON", undefined],
    [Buffer.from('{"message":"\xff"}', "latin1"), "INVALID_JSON", undefined],
    ["[]", "INVALID_REQUEST", ""],
    ["1", "INVALID_REQUEST", ""],
    ["true", "INVALID_REQUEST", ""],
    ["status=done", "INVALID_REQUEST", "/status"],
    ["exit_code=", "INVALID_REQUEST", "/exit_code"],
    ["duration_ms=long", "INVALID_REQUEST", "/duration_ms"],
    ['{"status":"done"}', "INVALID_REQUEST", "/status"],
    ['{"status":"toString"}', "INVALID_REQUEST", "/status"],
    ['{"status":5}', "INVALID_REQUEST", "/status"],
    ['{"run_id":5}', "INVALID_REQUEST", "/run_id"],
    ['{"exit_code":"1"}', "INVALID_REQUEST", "/exit_code"],
    ['{"exit_code":1.5}', "INVALID_REQUEST", "/exit_code"],
    ['{"exit_code":4294967296}', "INVALID_REQUEST", "/exit_code"],
    ['{"duration_ms":-1}', "INVALID_REQUEST", "/duration_ms"],
    ['{"duration_ms":"5"}', "INVALID_REQUEST", "/duration_ms"],
    ['{"message":{}}', "INVALID_REQUEST", "/message"],
  ])("refuses %j as %s", (body, code, path) => {
    const reading = read(body);
    expect(reading).toMatchObject({ kind: "invalid", code, ...(path !== undefined && { path }) });
    expect(reading).toHaveProperty("fix");
  });

  test.each(["null", " ok ", '"done"', "exit_code=2&message=disk+full", ' {"status":"start"}', "it's \"done\""])("writes %j into the log as the object that it means", (body) => {
    const reading = read(body);
    if (reading.kind !== "read") throw new Error(reading.error);
    const logged = loggedPing(Buffer.from(body), reading.ping);
    expect(JSON.parse(Buffer.from(logged).toString())).toBeTypeOf("object");
    expect(readPing(logged)).toEqual(reading);
  });
});
