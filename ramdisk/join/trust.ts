import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { OkpJwk } from '#contract/join.ts';
import { TrustList } from '#contract/trust.ts';
import { validate } from '#contract/validate.ts';
import type { Say } from '../console.ts';

const TrustFile = Type.Object({
  /** PEM of the CAs that issue the sites' certificates. */
  ca: Type.String({ pattern: '-----BEGIN CERTIFICATE-----' }),
  /** The centre's keys that sign operations. */
  signingKeys: Type.Array(OkpJwk, { minItems: 1 }),
  /** The number of the list that they are from. */
  trustNumber: Type.Integer({ minimum: 1 }),
  /** Where deployed OSes reach the centre, and the key that their join tokens are sealed to. */
  centralUrl: Type.Optional(Type.String({ pattern: '^https://[^/\\s"]+/?$' })),
  joinEncryptionKey: Type.Optional(OkpJwk),
});

/**
 * Whom this ramdisk believes: what its image has, which is public and the same for every machine, and what the centre's keys in it have
 * vouched for since.
 */
export interface Trust {
  ca: string;
  signingKeys: readonly KeyObject[];
  trustNumber: number;
  centre: PinnedCentre;
}

/** What the ramdisk leaves in an OS that it installs. */
export interface PinnedCentre {
  url?: string;
  joinEncryptionKey?: OkpJwk;
}

/**
 * Reads `/etc/railhead/trust.json`.
 * @throws RailheadError INVALID_CONFIG when the image was built without it or it is damaged
 */
export async function readTrust(file: string): Promise<Trust> {
  const document = validate(TrustFile, await parsedFile(file), 'INVALID_CONFIG');
  const { ca, signingKeys, trustNumber, centralUrl: url, joinEncryptionKey } = document;
  const centre = {
    ...(url !== undefined && { url }),
    ...(joinEncryptionKey !== undefined && { joinEncryptionKey }),
  };
  return { ca, signingKeys: signingKeys.map(publicKeyFromJwk), trustNumber, centre };
}

/**
 * Takes the centre's newer keys from what a site relays (contract/trust.ts): the site is not believed, but a key that is known here. What
 * no known key has signed, or is no newer, changes nothing.
 */
export async function learnKeys(trust: Trust, relayed: unknown, say: Say): Promise<void> {
  for (const jws of Array.isArray(relayed) ? relayed : []) {
    const list = await believed(String(jws), trust.signingKeys);
    if (list === undefined || list.number <= trust.trustNumber) continue;
    trust.signingKeys = list.signingKeys.map(publicKeyFromJwk);
    trust.trustNumber = list.number;
    say(`the centre's keys are known anew: list ${list.number}`);
    return;
  }
}

async function believed(jws: string, keys: readonly KeyObject[]): Promise<TrustList | undefined> {
  try {
    return validate(TrustList, await verifyDocument('railhead-trust', jws, keys));
  } catch {
    return undefined;
  }
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
