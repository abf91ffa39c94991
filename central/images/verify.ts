import { RailheadError } from '#contract/errors.ts';
import { imageSigningInput } from '#contract/images.ts';
import { verifySignature } from '#contract/signing.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { findSigner } from './signers.ts';

/**
 * Checks an image's stored signature once more, right before use, against the allowlist that vouched for it at
 * registration. Returns the signer's key (SPKI PEM).
 * @throws RailheadError INVALID_STATE with reason `unsigned`, or `signature` when the signer was revoked or the row changed
 */
export async function verifyImageForUse(store: Queries, image: Row<'images'>): Promise<string> {
  const { signature, signer_id: signerId, signer_tenant_id: tenantId } = image;
  if (image.verified === 0 || signature === null || signerId === null || tenantId === null)
    throw unusable(image, 'unsigned', 'is not signed');
  const signer = await findSigner(store, tenantId, signerId);
  if (signer === undefined || !verifySignature(signer.public_key, imageSigningInput(image), signature))
    throw unusable(image, 'signature', `is not vouched for by signer ${signerId} any more`);
  return signer.public_key;
}

function unusable(image: Row<'images'>, reason: string, what: string): RailheadError {
  return new RailheadError('INVALID_STATE', `image ${image.ref} ${what}: register a signed one`, {
    reason,
    imageId: image.image_id,
    ref: image.ref,
  });
}
