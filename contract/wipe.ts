import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };

/**
 * How thoroughly a machine's disks are wiped. `none`: not at all; `quick`: what finds data (tables, labels, superblocks), so
 * that nothing on the disk boots or mounts; `secure-erase`: every user block, by the device's own command or, where it has
 * none, by overwriting (NIST SP 800-88 clear or purge, as the method says); `crypto-erase`: the device forgets the key that it encrypts by.
 */
export const WipeMode = Type.Enum(['none', 'quick', 'secure-erase', 'crypto-erase']);
export type WipeMode = Static<typeof WipeMode>;

/** By what a disk was wiped. */
export const WipeMethod = Type.Enum([
  'ends-zeroed',
  'overwritten',
  'nvme-format',
  'nvme-crypto-erase',
  'ata-secure-erase',
  'ata-crypto-scramble',
]);
export type WipeMethod = Static<typeof WipeMethod>;

/** One wiped disk, and what reading it back showed. */
export const WipedDisk = Type.Object(
  {
    device: Type.String(),
    sizeBytes: Type.Integer({ minimum: 0 }),
    serial: Type.Optional(Type.String()),
    wwn: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    method: WipeMethod,
    seconds: Type.Number({ minimum: 0 }),
    /** Of `blocks` blocks of 4096 bytes that were marked before and read after, `changed` no longer held their mark. */
    readBack: Type.Object(
      { blocks: Type.Integer({ minimum: 1 }), changed: Type.Integer({ minimum: 0 }) },
      closed,
    ),
  },
  closed,
);
export type WipedDisk = Static<typeof WipedDisk>;

/** What `disk.wipe` returns: every disk of the machine that can hold data. */
export const WipeResult = Type.Object({ mode: WipeMode, disks: Type.Array(WipedDisk) }, closed);
export type WipeResult = Static<typeof WipeResult>;

/** Whether reading back showed every disk wiped. A wipe of mode `none` proves nothing, nor does one of no disk. */
export function isReadBackClean({ mode, disks }: WipeResult): boolean {
  return (
    mode !== 'none' && disks.length > 0 && disks.every(({ readBack }) => readBack.changed === readBack.blocks)
  );
}
