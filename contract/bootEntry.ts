import Type, { type Static } from 'typebox';
import { Digest } from './images.ts';

/** A hardware address as every record writes it: lower case, colons. */
export const Mac = Type.String({ pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$' });

/**
 * What a site serves to one machine on its next network boot, signed by the centre. `ramdisk.digests` has one image
 * per architecture (`x86_64`, `aarch64`).
 */
export const BootEntry = Type.Object(
  {
    entryId: Type.String(),
    siteId: Type.String(),
    nodeId: Type.String(),
    macs: Type.Array(Mac, { minItems: 1 }),
    uuid: Type.Optional(Type.String()),
    ramdisk: Type.Object(
      { ref: Type.String(), digests: Type.Partial(Type.Object({ x86_64: Digest, aarch64: Digest })) },
      { additionalProperties: false },
    ),
    issuedAt: Type.String(),
    expiresAt: Type.String(),
  },
  { additionalProperties: false },
);
export type BootEntry = Static<typeof BootEntry>;

/** `AA-BB-CC-DD-EE-FF`, `aabb.ccdd.eeff` and the like in the one spelling of `Mac`; undefined when it is no address of 6 bytes. */
export function canonicalMac(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[:.-]/g, '');
  if (!/^[0-9a-f]{12}$/.test(digits)) return undefined;
  return digits.match(/../g)?.join(':');
}
