import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { imageSigningInput, type RegisterImage, type SignedImageFacts } from '#contract/images.ts';
import type { Api } from './api.ts';

export const tenantId = 'root';
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

/** Signs an image and puts it into the catalog. */
export async function register(
  api: Api,
  signer: Signer,
  image: SignedImageFacts & Pick<RegisterImage, 'sizeBytes' | 'source'>,
): Promise<void> {
  const signature = sign(null, imageSigningInput(image), signer.privateKey).toString('base64');
  await api.call('images', 'register', { tenantId, ...image, signerId: signer.id, signature });
}
