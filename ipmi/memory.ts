import Type, { type Static } from 'typebox';

/** Flags that the BMC forgets after 60 seconds, and when they were sent (milliseconds since the epoch): see `refreshBootDevice`. */
export const FleetingFlags = Type.Object(
  {
    flags: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { minItems: 5, maxItems: 5 }),
    at: Type.Integer(),
  },
  { additionalProperties: false },
);
export type FleetingFlags = Static<typeof FleetingFlags>;

/**
 * What a BMC would forget within a minute, and which login it took last, by its name. It outlives the process, since a boot device may be set long
 * before the restart.
 */
export const BootMemory = Type.Object(
  { fleeting: Type.Optional(FleetingFlags), login: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);
export type BootMemory = Static<typeof BootMemory>;
