import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { kafkaAvailable } from "../../../testing/kafka.ts";
import { KAFKA_USER, LOGIN_MS, startSecuredKafka, type SecuredKafka } from "../../../testing/secured-kafka.ts";
import { readConfig } from "../../config.ts";
import { newId } from "../../ids.ts";
import { makeLog } from "../../log.ts";
import { StartFailure } from "../../start-failure.ts";
import { openKafkaLog } from "../kafka.ts";
import type { EventLog } from "../port.ts";
import { readKafkaSecurity } from "./security.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512", "oauthbearer"] as const;
const PRODUCERS = ["direct", "kafkajs"] as const;

describe.runIf(kafkaAvailable().available)("a Kafka that asks who connects", () => {
  let kafka: SecuredKafka;
  beforeAll(async () => {
    kafka = await startSecuredKafka();
  }, 120_000);
  afterAll(() => kafka.stop());

  const loginBy = (mechanism: string, more: Record<string, string> = {}) => ({
    KAFKA_SSL: "true",
    KAFKA_SSL_CA_FILE: kafka.certificate.file,
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: KAFKA_USER.username,
    KAFKA_SASL_PASSWORD: KAFKA_USER.password,
    ...(mechanism === "oauthbearer" && { KAFKA_SASL_TOKEN_URL: kafka.tokenUrl }),
    ...more,
  });

  async function open({ onTestFinished }: TestContext, brokers: string[], settings: Record<string, string>, producer: (typeof PRODUCERS)[number] = "direct"): Promise<EventLog> {
    const read = readConfig(settings);
    if ("faults" in read) throw new Error(read.faults.join("\n"));
    const eventLog = await openKafkaLog({ brokers, topicPrefix: newId(), partitions: 1, log, instanceId: newId(), producer, security: await readKafkaSecurity(read.config) });
    onTestFinished(() => eventLog.close());
    return eventLog;
  }

  /** Writes a record and reads it back. */
  async function expectToCarry(eventLog: EventLog): Promise<void> {
    await eventLog.append("beacons", 0, Buffer.from("carried"));
    const read = await new Promise<string>((resolve, reject) => {
      const consuming = eventLog.consume({
        topic: "beacons",
        group: "reading",
        startAt: async () => 0n,
        async onRecords({ records }) {
          resolve(records[0]!.value.toString());
          return records.at(-1)!.offset + 1n;
        },
      });
      consuming.catch(reject);
    });
    expect(read).toBe("carried");
  }

  it.concurrent.for(MECHANISMS.flatMap((mechanism) => PRODUCERS.map((producer) => [mechanism, producer] as const)))("takes records and gives them to who logs in by %s (producer %s)", async ([mechanism, producer], context) => {
    await expectToCarry(await open(context, kafka.login, loginBy(mechanism), producer));
  });

  it.concurrent.for(PRODUCERS)("takes records from who has a certificate (producer %s)", async (producer, context) => {
    const { file, key } = kafka.certificate;
    const keyFile = `${file}.${producer}.key`;
    await writeFile(keyFile, key);
    await expectToCarry(await open(context, kafka.byCertificate, { KAFKA_SSL: "true", KAFKA_SSL_CA_FILE: file, KAFKA_SSL_CERT_FILE: file, KAFKA_SSL_KEY_FILE: keyFile }, producer));
  });

  it.concurrent("loses no record when a login ends, and logs in anew before", async (context) => {
    const eventLog = await open(context, kafka.login, loginBy("scram-sha-512"));
    const end = performance.now() + LOGIN_MS + 500;
    let sent = 0;
    for (; performance.now() < end; sent++) await eventLog.append("beacons", 0, Buffer.from(String(sent)));
    expect(await eventLog.ends("beacons")).toEqual([BigInt(sent)]);
  }, LOGIN_MS + 20_000);

  it.concurrent.for([
    ["a wrong password", "scram-sha-256", { KAFKA_SASL_PASSWORD: "wrong-secret" }, /authentication|credentials|login/i],
    ["a wrong password that is sent as it is", "plain", { KAFKA_SASL_PASSWORD: "wrong-secret" }, /authentication|credentials|login/i],
    ["a client that the server of tokens does not know", "oauthbearer", { KAFKA_SASL_PASSWORD: "wrong-secret" }, /KAFKA_SASL_TOKEN_URL answered 401/],
    ["an authority that is not known", "plain", { KAFKA_SSL_CA_FILE: "" }, /certificate/],
  ] as const)("does not start with %s, and says why without a secret", async ([_name, mechanism, settings, reason], context) => {
    const failure: unknown = await open(context, kafka.login, loginBy(mechanism, settings)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as StartFailure).message).toMatch(reason);
    expect((failure as StartFailure).message).not.toContain("wrong-secret");
  });
});

it.each([
  [{ KAFKA_SASL_MECHANISM: "plain" }, "KAFKA_SASL_MECHANISM=plain needs KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD."],
  [{ KAFKA_SASL_MECHANISM: "oauthbearer", KAFKA_SASL_USERNAME: "a", KAFKA_SASL_PASSWORD: "b" }, "KAFKA_SASL_MECHANISM=oauthbearer needs KAFKA_SASL_TOKEN_URL."],
  [{ KAFKA_SSL: "true", KAFKA_SSL_CERT_FILE: "cert.pem" }, "KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE are set together."],
  [{ KAFKA_SSL_CA_FILE: "ca.pem" }, "KAFKA_SSL_CA_FILE and KAFKA_SSL_CERT_FILE need KAFKA_SSL=true."],
])("settings that do not fit together are named: %j", (settings, fault) => {
  expect(readConfig(settings)).toEqual({ faults: [fault] });
});

it("names the setting whose file cannot be read", async () => {
  const read = readConfig({ KAFKA_SSL: "true", KAFKA_SSL_CA_FILE: "/nowhere/ca.pem" });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  await expect(readKafkaSecurity(read.config)).rejects.toThrow(/KAFKA_SSL_CA_FILE cannot be read: ENOENT/);
});
