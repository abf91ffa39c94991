import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { MachineArchitecture } from '#base/architecture.ts';
import {
  type Compression,
  imageSigningInput,
  type RegisterImage,
  type SignedImageFacts,
} from '#contract/images.ts';
import type { Ramdisk } from '#ramdisk/image/build.ts';
import type { Api } from './api.ts';
import type { ImageSource } from './source.ts';
import type { SourceBehaviour } from './sourceBehaviour.ts';

export const tenantId = 'root';
export const ramdiskRefs: Readonly<Record<MachineArchitecture, string>> = {
  x86_64: 'ramdisk@1',
  aarch64: 'ramdisk-aarch64@1',
};
const signerId = 'rack-2026';

/** Whoever vouches for images: an Ed25519 key that exists as long as the line. */
export interface Signer {
  id: string;
  publicKey: string;
  privateKey: KeyObject;
}

export function makeSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { id: signerId, publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string, privateKey };
}

/** Where images are put so that a site can have them. */
export interface Catalog {
  api: Api;
  signer: Signer;
  source: ImageSource;
}

/** An OS image as a file, for the catalog. */
export interface OfferedImage {
  ref: string;
  file: string;
  sha256: string;
  sizeBytes: number;
  compression: Compression;
}

/** Serves an OS image at the source, signs and registers it. */
export async function offerOs(
  catalog: Catalog,
  image: OfferedImage,
  behaviour?: SourceBehaviour,
): Promise<void> {
  const { file, ...facts } = image;
  const source = await catalog.source.serve(image.ref, file, behaviour);
  await register(catalog, { kind: 'os', format: 'raw', ...facts, source });
}

/** The same for an ISO. */
export async function offerIso(catalog: Catalog, { ref, file, ...facts }: Omit<OfferedImage, 'compression'>) {
  const source = await catalog.source.serve(ref, file);
  await register(catalog, { kind: 'os', format: 'iso', compression: 'none', ref, ...facts, source });
}

/** The same for a ramdisk that machines boot. */
export async function offerRamdisk(
  catalog: Catalog,
  { file, digest, sizeBytes }: Pick<Ramdisk, 'file' | 'digest' | 'sizeBytes'>,
  ref: string,
): Promise<void> {
  const source = await catalog.source.serve(ref, file);
  const facts = { kind: 'ramdisk', ref, format: 'raw', compression: 'none' } as const;
  await register(catalog, { ...facts, sha256: digest, sizeBytes, source });
}

async function register(
  { api, signer }: Catalog,
  image: SignedImageFacts & Pick<RegisterImage, 'sizeBytes' | 'source'>,
): Promise<void> {
  const signature = sign(null, imageSigningInput(image), signer.privateKey).toString('base64');
  await api.call('images', 'register', { tenantId, ...image, signerId: signer.id, signature });
}
