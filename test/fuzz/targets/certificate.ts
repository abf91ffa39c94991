import { generateKeyPairSync } from 'node:crypto';
import { uriNames } from '#base/certificateNames.ts';
import { requestedKey } from '#central/join/authority.ts';
import { certificateRequest } from '../../../agent/join/ownKeys.ts';
import { isRailheadError, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const request = await certificateRequest(
  privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  'site-1',
);

/** A request for a certificate (PKCS#10), and a certificate's names in the text that Node makes of them. */
export const target: FuzzTarget = {
  seeds: [
    request,
    'URI:urn:railhead:site:a, DNS:x, "URI:b, c"',
    '-----BEGIN CERTIFICATE REQUEST-----\nMAcGBSsOAwIa\n-----END CERTIFICATE REQUEST-----\n',
  ].map(text),
  longest: 16_384,
  async run(input) {
    const told = input.toString('latin1');
    uriNames(told);
    await requestedKey(told);
  },
  declares: isRailheadError,
};
