import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { newSigningSecret, signatureHeaders } from "./sign.ts";

describe("a delivery's signatures", () => {
  const body = '{"id":"1","event":"incident.created","data":{"title":"Zahlung schlägt fehl ✗"}}';

  it("verify with a library of Standard Webhooks, and only for these bytes", () => {
    const secret = newSigningSecret();
    const headers = signatureHeaders({ secret, id: "msg_1", at: new Date(), body });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(body.replace("1", "2"), headers)).toThrow();
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "msg_2" })).toThrow();
  });

  it("hold the specification's hex digest under the whole secret", () => {
    const secret = newSigningSecret();
    const signature = signatureHeaders({ secret, id: "msg_1", at: new Date(), body })["x-service-signature"];
    expect(signature).toBe(createHmac("sha256", secret).update(body).digest("hex"));
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
  });

  it("are by both secrets after a rotation: either verifies with the library, and no third does", () => {
    const [secret, previousSecret] = [newSigningSecret(), newSigningSecret()];
    const headers = signatureHeaders({ secret, previousSecret, id: "msg_1", at: new Date(), body });
    for (const valid of [secret, previousSecret]) expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow();
    expect(headers["x-service-signature"]).toBe(createHmac("sha256", secret).update(body).digest("hex"));
    expect(headers["x-service-signature-previous"]).toBe(createHmac("sha256", previousSecret).update(body).digest("hex"));
    expect(signatureHeaders({ secret, id: "msg_1", at: new Date(), body })).not.toHaveProperty("x-service-signature-previous");
  });

  it("are those of a known example", () => {
    const headers = signatureHeaders({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: new Date(1_614_265_330_000), body: '{"test": 2432232314}' });
    expect(headers).toMatchObject({ "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" });
  });
});

describe("a signing secret", () => {
  it("is whsec_ and 32 random bytes", () => {
    const secrets = Array.from({ length: 50 }, newSigningSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) expect(Buffer.from(/^whsec_(.+)$/.exec(secret)![1]!, "base64").length).toBe(32);
  });
});
