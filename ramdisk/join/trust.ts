import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { OkpJwk } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';

const TrustFile = Type.Object({
  /** PEM of the CA that issues the sites' certificates. */
  ca: Type.String({ pattern: '-----BEGIN CERTIFICATE-----' }),
  /** The centre's key that signs operations. */
  signingKey: OkpJwk,
  centralUrl: Type.Optional(Type.String()),
});

/** Whom this ramdisk believes: part of its image, public, the same for every machine. */
export interface Trust {
  ca: string;
  signingKey: KeyObject;
}

/**
 * Reads `/etc/railhead/trust.json`.
 * @throws RailheadError INVALID_CONFIG when the image was built without it or it is damaged
 */
export async function readTrust(file: string): Promise<Trust> {
  const document = validate(TrustFile, await parsedFile(file), 'INVALID_CONFIG');
  return { ca: document.ca, signingKey: publicKeyFromJwk(document.signingKey) };
}

async function parsedFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new RailheadError(
      'INVALID_CONFIG',
      `${file} is missing or no JSON: build the ramdisk image again with the centre's trust file`,
      { path: file },
      cause,
    );
  }
}
