import { makeLookUp, type LookUp } from "../../../domain/monitors/domain/look-up.ts";
import type { ControlPlaneNeeds } from "../../route.ts";

const made = new WeakMap<ControlPlaneNeeds["config"], LookUp>();

/** The door of a process to the registries: one, so that its questions to a server come one after the other. */
export function lookUpOf({ config, log }: Pick<ControlPlaneNeeds, "config" | "log">): LookUp {
  const lookUp = made.get(config) ?? makeLookUp({ config, log });
  made.set(config, lookUp);
  return lookUp;
}
