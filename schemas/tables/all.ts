export * from "./errors.ts";
export * from "./heartbeats.ts";
export * from "./incidents.ts";
export * from "./notifications.ts";
export * from "./organizations.ts";
export * from "./pipeline.ts";
export * from "./services.ts";
