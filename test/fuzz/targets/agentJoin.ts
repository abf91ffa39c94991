import { JoinRequest, JoinResponse, RenewRequest, WellKnown } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const key = { kty: 'OKP', crv: 'Ed25519', x: 'a'.repeat(43) };
const schemas = [JoinRequest, RenewRequest, WellKnown, JoinResponse];

/** The messages of joining, as the centre and the agent read them; the first byte says which. */
export const target: FuzzTarget = {
  seeds: [
    {
      protocol: 1,
      role: 'site',
      nodeId: 'site-1',
      token: 'a.b.c',
      csr: 'pem',
      version: '1',
      sealingKey: { ...key, crv: 'X25519' },
    },
    { protocol: 1, proof: 'a.b.c' },
    {
      protocol: 1,
      servingCa: 'pem',
      joinSigningKey: key,
      joinEncryptionKey: { ...key, crv: 'X25519' },
      older: { servingCas: [], joinSigningKeys: [key], joinEncryptionKeys: [] },
    },
    { protocol: 2, role: 'node' },
  ].map((message, index) => Buffer.concat([Buffer.from([index]), json(message)])),
  longest: 65_536,
  run: (input) => validateMessage(schemas[(input[0] ?? 0) % schemas.length]!, parsedJson(input.subarray(1))),
  declares: isRailheadError,
};
