import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

/** Checking each example against its schema takes a few seconds of a machine's own time. */
const TIMEOUT_MS = 120_000;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

/** What the recommended rules find wrong with a document: errors and warnings alike. */
async function faultsOf(source: string): Promise<string[]> {
  const config = await createConfig({
    extends: ["recommended"],
    rules: {
      // The specification has both /workflows/{id}/trigger and /workflows/runs/{runId}; they differ in method, and no id is the word "runs".
      "no-ambiguous-paths": "off",
    },
  });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location.map(({ pointer }) => pointer).join(", ")})`);
}

it("the OpenAPI document breaks none of the linter's recommended rules", async () => {
  const { body } = await plane.app.inject({ method: "GET", url: "/openapi.json" });
  expect(await faultsOf(body)).toEqual([]);
}, TIMEOUT_MS);

it("which find errors and warnings where there are any", async () => {
  const broken = { openapi: "3.1.0", info: { title: "Pharos", version: "1.0.0" }, servers: [{ url: "/" }], security: [], paths: { "/x": { get: { operationId: "getX", summary: "X", responses: { "200": {} } } } } };
  expect((await faultsOf(JSON.stringify(broken))).map((fault) => fault.split(":")[0]).toSorted()).toEqual(["info-license", "operation-4xx-response", "struct"]);
});
