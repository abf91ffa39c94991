import Type, { type Static } from 'typebox';
import { ImageRef } from '#contract/images.ts';

/** What a pool wants of its site: images held ready, and the ramdisk that its machines boot, by architecture. */
export const PoolPolicy = Type.Object(
  {
    prewarmImages: Type.Array(ImageRef, { maxItems: 256, default: [] }),
    ramdisk: Type.Object(
      { x86_64: Type.Optional(ImageRef), aarch64: Type.Optional(ImageRef) },
      { additionalProperties: false, default: {} },
    ),
    /** How far a machine must be trusted before anything destructive or secret is sent to it. */
    trust: Type.Enum(['network', 'own-key', 'tpm'], { default: 'network' }),
  },
  { additionalProperties: false, default: {} },
);
export type PoolPolicy = Static<typeof PoolPolicy>;
