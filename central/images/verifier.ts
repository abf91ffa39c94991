import { imageSigningInput, type SignedImageFacts } from '#contract/images.ts';
import { verifySignature } from '#contract/signing.ts';
import type { Queries } from '../store/store.ts';
import { findSigner } from './signers.ts';

/** A signature to check: what it is over, and who made it by which allowlist. */
export interface ImageVerification {
  image: SignedImageFacts;
  /** Base64, as it was registered. */
  signature: string;
  signerId: string;
  /** The tenant whose signers are asked; `root`'s are the platform's. */
  allowlist: string;
}

/** That a signer vouches for an image. */
export interface Vouched {
  /** The signer's key (SPKI PEM), so that sites can check for themselves. A ramdisk without one is taken by no site. */
  signerKey?: string;
}

/** Checks a signature in whatever way; undefined: that allowlist does not vouch for the image. */
export type ImageVerifier = (verification: ImageVerification) => Promise<Vouched | undefined>;

/** The default: offline, against the rows of `image_signers`. */
export function allowlistVerifier(store: Queries): ImageVerifier {
  return async ({ image, signature, signerId, allowlist }) => {
    const signer = await findSigner(store, allowlist, signerId);
    if (signer === undefined) return undefined;
    const { public_key: signerKey } = signer;
    return verifySignature(signerKey, imageSigningInput(image), signature) ? { signerKey } : undefined;
  };
}

/** How images are checked in one running centre. */
export interface ImageSettings {
  /** At registration, and before an image goes to a site's cache; default `allowlistVerifier`. */
  verifier?: ImageVerifier;
  /** Right before an image is deployed or booted; default `allowlistVerifier`, whatever checked it at registration. */
  deployVerifier?: ImageVerifier;
  /** Lets an unsigned OS image deploy that is private to the machine's tenant. For development only. */
  allowUnsigned?: boolean;
}
