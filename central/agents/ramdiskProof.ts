import { isDeepStrictEqual } from 'node:util';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import type { RamdiskJoin } from '#contract/join.ts';

/** Whether a ramdisk's join message was signed, as it stands, by the key that it brings. */
export async function proofHolds(join: RamdiskJoin): Promise<boolean> {
  const { proof, ...message } = join;
  try {
    const signed = await verifyDocument('railhead-ramdisk-join', proof, publicKeyFromJwk(join.signingKey));
    return isDeepStrictEqual(signed, message);
  } catch {
    return false;
  }
}
