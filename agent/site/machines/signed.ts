import { isDeepStrictEqual } from 'node:util';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import type { OkpJwk } from '#contract/join.ts';

/** Whether `jws` is this very document, signed by that key. A key or signature that cannot be used is no match. */
export async function isSigned(typ: string, document: object, jws: string, key: OkpJwk): Promise<boolean> {
  try {
    return isDeepStrictEqual(await verifyDocument(typ, jws, publicKeyFromJwk(key)), document);
  } catch {
    return false;
  }
}
