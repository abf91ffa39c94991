import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { type Admission, openAdmission } from '#agent/join/admission.ts';
import { signDocument } from '#base/jws.ts';
import { issueServer, newAuthority, openAuthority } from '#central/join/authority.ts';
import { publicJwk } from '#central/join/keys.ts';

const centre = generateKeyPairSync('ed25519');
let genuine: Record<string, unknown>;
let asked: Parameters<typeof openAdmission>[2];

beforeAll(async () => {
  const authority = openAuthority(await newAuthority());
  const uri = 'urn:railhead:site:a';
  const { certificate, privateKey, expiresAt } = await issueServer(authority, { uri, validMs: 60_000 });
  asked = { role: 'site', nodeId: 'a', privateKey, counter: 3 };
  genuine = {
    protocol: 1,
    role: 'site',
    nodeId: 'a',
    certificate,
    ca: authority.certificate,
    expiresAt: expiresAt.toISOString(),
    counter: 3,
    signingKeys: [publicJwk(centre.privateKey)],
    trustNumber: 1,
  };
});

async function open(changed: object, key = centre.privateKey): Promise<Admission> {
  const jws = await signDocument('railhead-join-response', { ...genuine, ...changed }, key);
  return openAdmission(jws, [centre.publicKey], asked);
}

test('the answer to what was asked is taken', async () => {
  expect(await open({})).toMatchObject({ counter: 3, trustNumber: 1 });
});

test.each([
  ['of another identity', { nodeId: 'b' }, 'other-identity'],
  ['of another role', { role: 'node' }, 'other-identity'],
  ['to an earlier renewal', { counter: 2 }, 'other-answer'],
  ['to a later renewal', { counter: 4 }, 'other-answer'],
])('a genuine answer %s is refused', async (_, changed, reason) => {
  await expect(open(changed)).rejects.toMatchObject({ code: 'FORBIDDEN', details: { reason } });
});

test('an answer for another key, or by another signer, is refused', async () => {
  const other = generateKeyPairSync('ed25519').privateKey;
  await expect(open({}, other)).rejects.toMatchObject({ details: { reason: 'signature' } });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  asked = { ...asked, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
  await expect(open({})).rejects.toMatchObject({ details: { reason: 'other-key' } });
});
