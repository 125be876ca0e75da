export { evaluateBatch } from "../../domain/metrics/evaluate-batch.ts";
