// Names the failed tests of a JSON report of Vitest, each with the first line of its error: `node scripts/failed-tests.mjs <report>`.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

let report;
try {
  report = JSON.parse(readFileSync(process.argv[2], "utf8"));
} catch {
  console.log("The tests left no report.");
  process.exit();
}

for (const { name, assertionResults, status, message } of report.testResults) {
  const file = relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === "failed");
  for (const { fullName, failureMessages } of failed) console.log(`!! ${file} > ${fullName}\n   ${firstLine(failureMessages[0])}`);
  if (failed.length === 0 && status === "failed") console.log(`!! ${file}\n   ${firstLine(message)}`);
}

function firstLine(text) {
  return (text ?? "").split("\n", 1)[0].slice(0, 300);
}
