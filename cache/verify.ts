import { RailheadError } from '#contract/errors.ts';
import { type CacheImage, imageSigningInput } from '#contract/images.ts';
import { verifySignature } from '#contract/signing.ts';

/**
 * Checks that whoever signed this image vouches for this ref, format and digest. An OS image may be unsigned
 * (the centre decides whether its tenant may deploy it); a ramdisk never, because machines boot it before
 * anything else checks them.
 * @throws RailheadError INVALID_STATE, reason `unsigned` or `signature`
 */
export function checkSignature(image: CacheImage): void {
  const { ref, digest, signature, signerKey } = image;
  if (signature === undefined) {
    if (image.kind === 'os') return;
    throw new RailheadError(
      'INVALID_STATE',
      `the ramdisk ${ref} is not signed: sign it and register it again`,
      {
        reason: 'unsigned',
        ref,
        digest,
      },
    );
  }
  const input = imageSigningInput({ ...image, sha256: digest });
  if (signerKey !== undefined && verifySignature(signerKey, input, signature)) return;
  throw new RailheadError(
    'INVALID_STATE',
    `the signature of ${ref} does not match its catalog entry: sign it with a listed signer and register it again`,
    { reason: 'signature', ref, digest },
  );
}
