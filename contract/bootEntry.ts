import Type, { type Static } from 'typebox';
import { Digest } from './images.ts';

/** A hardware address as every record writes it: lower case, colons. */
export const Mac = Type.String({ pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$' });

/** A VLAN by its tag (IEEE 802.1Q §9.6: 0 and 4095 are none). */
export const Vlan = Type.Integer({ minimum: 1, maximum: 4094 });

const closed = { additionalProperties: false };

/** Which machine, where, and for how long. */
const bound = {
  entryId: Type.String(),
  siteId: Type.String(),
  nodeId: Type.String(),
  macs: Type.Array(Mac, { minItems: 1 }),
  uuid: Type.Optional(Type.String()),
  /** Once it has its script the machine goes on in this VLAN, tagged. */
  vlan: Type.Optional(Vlan),
};
const times = { issuedAt: Type.String(), expiresAt: Type.String() };

/** The machine boots the ramdisk: one image per architecture (`x86_64`, `aarch64`). Nobody joins under another kind of entry. */
export const RamdiskEntry = Type.Object(
  {
    ...bound,
    ramdisk: Type.Object(
      { ref: Type.String(), digests: Type.Partial(Type.Object({ x86_64: Digest, aarch64: Digest })) },
      closed,
    ),
    ...times,
  },
  closed,
);
export type RamdiskEntry = Static<typeof RamdiskEntry>;

/** The machine boots an ISO of the catalog by iPXE's `sanboot`. */
export const IsoEntry = Type.Object(
  { ...bound, iso: Type.Object({ ref: Type.String(), digest: Digest }, closed), ...times },
  closed,
);
export type IsoEntry = Static<typeof IsoEntry>;

/** What a site serves to one machine on its next network boot, signed by the centre. */
export const BootEntry = Type.Union([RamdiskEntry, IsoEntry]);
export type BootEntry = Static<typeof BootEntry>;

export function isIsoEntry(entry: BootEntry): entry is IsoEntry {
  return 'iso' in entry;
}

/** The images that an entry boots. */
export function digestsOf(entry: BootEntry): string[] {
  return isIsoEntry(entry) ? [entry.iso.digest] : Object.values(entry.ramdisk.digests);
}

/** `AA-BB-CC-DD-EE-FF`, `aabb.ccdd.eeff` and the like in the one spelling of `Mac`; undefined when it is no address of 6 bytes. */
export function canonicalMac(text: string): string | undefined {
  const digits = text.toLowerCase().replaceAll(/[:.-]/g, '');
  if (!/^[0-9a-f]{12}$/.test(digits)) return undefined;
  return digits.match(/../g)?.join(':');
}
