import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };
const text = Type.Optional(Type.String());
const count = Type.Optional(Type.Integer({ minimum: 0 }));

/**
 * What a BMC tells of its machine, the machine being on or off: what `inspect.oob` returns. Units are in the names. What a BMC does not
 * know is left out; a part that it could not be asked is named in `notes`.
 */
export const OobInventory = Type.Object(
  {
    system: Type.Object(
      {
        manufacturer: text,
        model: text,
        serial: text,
        /** Lower case. Many boards share one: for identity together with the NICs only. */
        uuid: text,
        firmwareVersion: text,
        power: Type.Optional(Type.Enum(['on', 'off'])),
        health: text,
        secureBoot: Type.Optional(Type.Boolean()),
        tpms: Type.Array(Type.String()),
        memoryBytes: count,
      },
      closed,
    ),
    bmc: Type.Object({ model: text, firmwareVersion: text }, closed),
    cpus: Type.Array(
      Type.Object(
        { id: Type.String(), model: text, cores: count, threads: count, maxSpeedMhz: count },
        closed,
      ),
    ),
    memory: Type.Array(
      Type.Object({ id: Type.String(), sizeBytes: count, type: text, speedMhz: count, serial: text }, closed),
    ),
    nics: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          /** Lower case with colons. */
          mac: Type.String(),
          speedMbps: count,
          linkUp: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    disks: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          model: text,
          serial: text,
          sizeBytes: count,
          mediaType: text,
          protocol: text,
          health: text,
        },
        closed,
      ),
    ),
    gpus: Type.Array(
      Type.Object({ id: Type.String(), model: text, manufacturer: text, serial: text }, closed),
    ),
    /** What runs on which part, as the BMC lists it; `updateable` when it says so. */
    firmware: Type.Array(
      Type.Object(
        { id: Type.String(), name: text, version: Type.String(), updateable: Type.Optional(Type.Boolean()) },
        closed,
      ),
    ),
    sensors: Type.Object(
      {
        temperatures: Type.Array(Type.Object({ name: Type.String(), celsius: Type.Number() }, closed)),
        fans: Type.Array(
          Type.Object(
            { name: Type.String(), rpm: Type.Optional(Type.Number()), percent: Type.Optional(Type.Number()) },
            closed,
          ),
        ),
        powerWatts: Type.Optional(Type.Number()),
      },
      closed,
    ),
    notes: Type.Array(Type.String()),
  },
  closed,
);
export type OobInventory = Static<typeof OobInventory>;
