import { z } from "zod";
import { limit, Name, Offset, Timestamp } from "./shared.ts";

export const BeaconKey = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ example: "Shop" }),
    key: z.string().meta({ description: "Public: it stands in the page's source.", example: "bpk_3fK9sLq0XbV7ZtR2mWcP8dYa" }),
    service_id: z.uuid().meta({ description: "Beacons with this key belong to this service." }),
    allowed_origins: z.array(z.string()).nullable().meta({ description: "Pages that may send beacons; null: any.", example: ["https://shop.example"] }),
    created_at: Timestamp,
  })
  .meta({ id: "BeaconKey" });
export type BeaconKey = z.infer<typeof BeaconKey>;

export const BeaconKeyListQuery = z.object({ limit: limit(100, 500), offset: Offset });
export type BeaconKeyListQuery = z.infer<typeof BeaconKeyListQuery>;
export const BeaconKeyList = z.object({ beacon_keys: z.array(BeaconKey) });

/** As browsers send it in the Origin header: scheme, host and a port that is not the scheme's own. */
const Origin = z
  .string()
  .max(300)
  .refine((text) => originOf(text) !== null, "must be an origin such as https://shop.example")
  .transform((text) => originOf(text)!);

const AllowedOrigins = z
  .array(Origin)
  .min(1, "must hold at least one origin, or be null to allow any")
  .max(100)
  .nullable()
  .meta({ description: "Origins of pages that may send beacons with this key; null allows any. Others get 403.", example: ["https://shop.example"] });

export const CreateBeaconKey = z
  .strictObject({
    name: Name.meta({ example: "Shop" }),
    service_id: z.string().meta({ description: "The service that its beacons belong to." }),
    allowed_origins: AllowedOrigins.default(null),
  })
  .meta({ id: "CreateBeaconKey" });
export type CreateBeaconKey = z.infer<typeof CreateBeaconKey>;

export const UpdateBeaconKey = z
  .strictObject({
    name: Name.optional(),
    service_id: z.string().optional().meta({ description: "Beacons from now on belong to this service." }),
    allowed_origins: AllowedOrigins.optional(),
  })
  .meta({ id: "UpdateBeaconKey" });
export type UpdateBeaconKey = z.infer<typeof UpdateBeaconKey>;

/** Null for what is no http origin, or names more than an origin (a path, a user). */
function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const plain = (url.protocol === "https:" || url.protocol === "http:") && url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  return plain && !/[?#*\s]/.test(text) ? url.origin : null;
}
