import { generateKeyPairSync } from 'node:crypto';
import { signDocument } from '#base/jws.ts';
import { machineThumbprint, RamdiskJoin, RamdiskTokenRequest } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { validate } from '#contract/validate.ts';
import { checkProof } from '../../../agent/site/machines/claim.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { kty, crv, x } = publicKey.export({ format: 'jwk' });
const claimed = {
  protocol: 1,
  token: 'token',
  mac: '02:00:00:00:00:01',
  uuid: '00112233-4455-6677-8899-aabbccddeeff',
  bootId: 'boot_1',
  signingKey: { kty, crv, x },
  sealingKey: { kty: 'OKP', crv: 'X25519', x: 'a'.repeat(43) },
  version: '1',
  trust: 'network',
};
const proof = await signDocument('railhead-ramdisk-join', claimed, privateKey);

/** What a ramdisk posts to its site before anybody believes it: a join, or a request for its token. */
export const target: FuzzTarget = {
  seeds: [
    json({ ...claimed, proof }),
    json({ mac: claimed.mac, uuid: claimed.uuid }),
    json({ ...claimed, proof: 'a.b.c' }),
  ],
  longest: 65_536,
  async run(input) {
    const body = parsedJson(input);
    refusals(() => validate(RamdiskTokenRequest, body));
    const message = validateMessage(RamdiskJoin, body);
    machineThumbprint(message);
    await checkProof(message);
  },
  declares: isRailheadError,
};

function refusals(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!isRailheadError(error)) throw error;
  }
}
