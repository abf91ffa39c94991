import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };
const text = Type.Optional(Type.String({ maxLength: 256 }));

/** The board and its firmware, as SMBIOS and the kernel tell of it. */
export const SystemInventory = Type.Object(
  {
    /** The product UUID as SMBIOS spells it, lower case; a board that was left without one has none here. */
    uuid: text,
    manufacturer: text,
    product: text,
    serial: text,
    firmwareVersion: text,
    firmwareDate: text,
    architecture: Type.String({ maxLength: 32 }),
    bootMode: Type.Enum(['uefi', 'bios']),
    /** Only under UEFI. */
    secureBoot: Type.Optional(Type.Boolean()),
    tpm: Type.Optional(Type.Enum(['1.2', '2.0'])),
    cpus: Type.Object(
      { model: text, sockets: Type.Integer(), cores: Type.Integer(), threads: Type.Integer() },
      closed,
    ),
    memoryBytes: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type SystemInventory = Static<typeof SystemInventory>;

export const NicInventory = Type.Object(
  {
    name: Type.String({ maxLength: 32 }),
    /** Lower case with colons; the permanent address where the driver tells it. */
    mac: Type.String({ maxLength: 64 }),
    driver: text,
    pciAddress: text,
    vendorId: text,
    deviceId: text,
    linkUp: Type.Boolean(),
    speedMbps: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);
export type NicInventory = Static<typeof NicInventory>;

export const DiskInventory = Type.Object(
  {
    name: Type.String({ maxLength: 64 }),
    sizeBytes: Type.Integer({ minimum: 0 }),
    logicalSectorSize: Type.Integer({ minimum: 1 }),
    serial: text,
    wwn: text,
    model: text,
    rotational: Type.Boolean(),
    removable: Type.Boolean(),
  },
  closed,
);
export type DiskInventory = Static<typeof DiskInventory>;

/** A display or 3D controller (PCI class 0x03). */
export const GpuInventory = Type.Object(
  {
    pciAddress: Type.String({ maxLength: 32 }),
    vendorId: Type.String({ maxLength: 6 }),
    deviceId: Type.String({ maxLength: 6 }),
    driver: text,
  },
  closed,
);
export type GpuInventory = Static<typeof GpuInventory>;

/** What a machine is made of, section by section. */
export const Inventory = Type.Object(
  {
    system: SystemInventory,
    nics: Type.Array(NicInventory, { maxItems: 256 }),
    disks: Type.Array(DiskInventory, { maxItems: 4096 }),
    gpus: Type.Array(GpuInventory, { maxItems: 256 }),
  },
  closed,
);
export type Inventory = Static<typeof Inventory>;

/** What `inventory.refresh` returns. */
export const InventoryResult = Type.Object({ sections: Inventory }, closed);
export type InventoryResult = Static<typeof InventoryResult>;
