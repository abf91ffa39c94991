import Type, { type Static } from 'typebox';
import { idPattern } from './ids.ts';
import { longestSource } from './imageSource.ts';
import { Time } from './time.ts';

export const ImageKind = Type.Enum(['os', 'ramdisk']);
export const ImageFormat = Type.Enum(['raw', 'qcow2', 'iso']);
export const Compression = Type.Enum(['none', 'zstd', 'gzip']);
export type ImageKind = Static<typeof ImageKind>;
export type ImageFormat = Static<typeof ImageFormat>;
export type Compression = Static<typeof Compression>;

/** A tenant's id. */
export const TenantId = Type.String({ maxLength: 128, pattern: '^[A-Za-z0-9._:-]{1,128}$' });

/** A sha256 in lower-case hex: the identity of an artifact as stored. */
export const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

/**
 * An image's name: `name@version`, printable ASCII without blanks. The same wherever one is written: in the catalog, in profiles, in
 * the policy of pools. What is signed has it in a line of its own.
 */
export const ImageRef = Type.String({ minLength: 1, maxLength: 200, pattern: '^[!-?A-~]+@[!-?A-~]+$' });

/** The input of `images.register`. */
export const RegisterImage = Type.Object(
  {
    tenantId: TenantId,
    ref: ImageRef,
    kind: Type.Enum(['os', 'ramdisk'], { default: 'os' }),
    format: ImageFormat,
    compression: Type.Enum(['none', 'zstd', 'gzip'], { default: 'none' }),
    sha256: Type.String({ minLength: 1, maxLength: 64, pattern: '^[0-9A-Fa-f]{64}$' }),
    sizeBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    source: Type.String({ minLength: 1, maxLength: longestSource }),
    signature: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    signerId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  },
  { additionalProperties: false },
);
export type RegisterImage = Static<typeof RegisterImage>;

export const ImageId = Type.String({ maxLength: 56, pattern: idPattern('img') });

/** A catalog entry as the API answers it. */
export const Image = Type.Object(
  {
    imageId: ImageId,
    tenantId: TenantId,
    ref: ImageRef,
    kind: ImageKind,
    format: ImageFormat,
    compression: Compression,
    sha256: Digest,
    sizeBytes: Type.Optional(Type.Integer({ minimum: 0 })),
    source: Type.String(),
    signature: Type.Optional(Type.String()),
    signerId: Type.Optional(Type.String()),
    verified: Type.Boolean(),
    visibility: Type.Enum(['private', 'public']),
    /** When and why its digest was withdrawn: it neither deploys nor boots anywhere. */
    withdrawn: Type.Optional(Type.Object({ at: Time, why: Type.String() }, { additionalProperties: false })),
    createdAt: Time,
  },
  { additionalProperties: false },
);
export type Image = Static<typeof Image>;

/** What a signer vouches for. */
export type SignedImageFacts = Pick<Image, 'kind' | 'ref' | 'format' | 'compression' | 'sha256'>;

/**
 * The bytes that an image's signature covers: `bc-image-v1`, kind, ref, format, compression and the lower-case
 * digest as UTF-8, one per line, without a line feed after the last.
 */
export function imageSigningInput(image: SignedImageFacts): Buffer {
  const { kind, ref, format, compression, sha256 } = image;
  return Buffer.from(
    ['bc-image-v1', kind, ref, format, compression, sha256.toLowerCase()].join('\n'),
    'utf8',
  );
}

/**
 * An image that a site is to hold (NodeSpec `site.cacheImages`). `signature` and `signerKey` (SPKI PEM) let the
 * site check for itself what the centre's catalog says.
 */
export const CacheImage = Type.Object(
  {
    ref: Type.String(),
    kind: ImageKind,
    digest: Digest,
    sizeBytes: Type.Optional(Type.Integer({ minimum: 0 })),
    format: ImageFormat,
    compression: Compression,
    sources: Type.Array(Type.String()),
    signature: Type.Optional(Type.String()),
    signerKey: Type.Optional(Type.String()),
    /** Its bytes are for the machines that are deployed from it, and for nobody else on their network. */
    private: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type CacheImage = Static<typeof CacheImage>;

export type CacheState = 'pulling' | 'ready' | 'failed' | 'evicting';

/** One row of a site's `images` inventory section. */
export interface CachedImage {
  digest: string;
  ref: string;
  state: CacheState;
  sizeBytes?: number;
  /** Bytes that have arrived while `pulling`. */
  receivedBytes?: number;
  /** How fast they have been arriving lately, and how long the rest takes at that rate. */
  bytesPerSecond?: number;
  etaSeconds?: number;
  /** An operator of the site has pinned it there. */
  pinned?: true;
  /** Why `failed`, and when the next try is due (ISO 8601). */
  error?: import('./errors.ts').WireError;
  nextTryAt?: string;
}
