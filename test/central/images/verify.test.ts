import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { addImageSigner, listImageSigners, revokeImageSigner } from '#central/images/signers.ts';
import type { ImageVerifier } from '#central/images/verifier.ts';
import { type ImageUse, verifyImageForUse } from '#central/images/verify.ts';
import type { Store } from '#central/store/store.ts';
import type { Row } from '#central/store/tables.ts';
import {
  mustRegister,
  newSigner,
  osImage,
  startTestCentre,
  type TestCentre,
  type TestSigner,
} from '../centre.ts';

let centre: TestCentre;
let platform: TestSigner;

beforeAll(async () => {
  centre = await startTestCentre();
  platform = await newSigner(centre.directory);
});
afterAll(() => centre.close());

const host = <Value>(work: (store: Store) => Promise<Value>) =>
  onHost(centre.directory, ({ store }) => work(store));

function rowOf(imageId: string): Promise<Row<'images'>> {
  return host((store) =>
    store.selectFrom('images').selectAll().where('image_id', '=', imageId).executeTakeFirstOrThrow(),
  );
}

/** `vouched`, or the reason why not. */
async function outcome(row: Row<'images'>, use?: ImageUse): Promise<unknown> {
  return host((store) => verifyImageForUse(store, row, use)).then(
    () => 'vouched',
    (error) => {
      expect(error).toMatchObject({
        code: 'INVALID_STATE',
        details: { imageId: row.image_id, ref: row.ref },
      });
      return error.details.reason;
    },
  );
}

async function registered(
  ref: string,
  signer: TestSigner | undefined,
  more: object = {},
): Promise<Row<'images'>> {
  const image = osImage({ ref, ...more });
  return rowOf((await mustRegister(centre.call, signer?.signed(image) ?? image)).imageId);
}

describe('verifyImageForUse', () => {
  test('vouches for a signed image, and returns the key that it verified by', async () => {
    const row = await registered('good@1', platform);
    expect(await host((store) => verifyImageForUse(store, row))).toEqual({ signerKey: platform.publicKey });
  });

  test('an unsigned image is refused with the reason unsigned', async () => {
    expect(await outcome(await registered('unsigned@1', undefined))).toBe('unsigned');
  });

  test('images a revoked signer verified keep their flag, but no longer pass', async () => {
    const gone = await newSigner(centre.directory, 'root', 'going');
    const row = await registered('orphaned@1', gone);
    expect(await outcome(row)).toBe('vouched');
    await host((store) => revokeImageSigner(store, 'root', 'going'));
    expect(await outcome(row)).toBe('signature');
    expect(await rowOf(row.image_id)).toMatchObject({ verified: 1 });
    const { data } = await centre.call('images.get', { tenantId: 'root', imageId: row.image_id });
    expect(data).toMatchObject({ verified: true });
  });

  test.each([
    ['digest', { sha256: 'e'.repeat(64) }],
    ['kind', { kind: 'ramdisk' as const }],
    ['ref', { ref: 'other@1' }],
    ['format', { format: 'qcow2' as const }],
    ['compression', { compression: 'none' as const }],
    ['signature', { signature: 'AAAA' }],
    ['signer', { signer_id: 'nobody' }],
    ['allowlist', { signer_tenant_id: 'acme' }],
    ['flag', { verified: 0 }],
  ])('a row whose %s was tampered with is refused with the reason signature', async (what, change) => {
    const row = await registered(`tampered-${what}@1`, platform);
    expect(await outcome({ ...row, ...change })).toBe('signature');
  });

  test('an image is verified against the allowlist that vouched for it at registration, not another one', async () => {
    const own = await newSigner(centre.directory, 'acme', 'both');
    const row = await registered('both@1', own, { tenantId: 'acme' });
    expect(row.signer_tenant_id).toBe('acme');
    await host((store) => revokeImageSigner(store, 'acme', 'both'));
    // The same key now stands on the platform's list, which did not vouch for the image then.
    const platformKey = { tenantId: 'root', signerId: 'both', publicKey: own.publicKey };
    await host((store) => addImageSigner(store, platformKey));
    expect(await outcome(row)).toBe('signature');
  });
});

test('a ramdisk passes by the platform alone, whatever its row says who vouched for it', async () => {
  const tenants = await newSigner(centre.directory, 'acme', 'ramdisks');
  const row = await registered('passing@1', tenants, { tenantId: 'acme' });
  const { signature } = tenants.signed(osImage({ tenantId: 'acme', ref: 'passing@1', kind: 'ramdisk' }));
  expect(await outcome({ ...row, kind: 'ramdisk', signature: signature ?? '' })).toBe('signature');
});

describe('allowUnsigned', () => {
  const allowing = { unsignedOf: 'root' };

  test("lets the tenant's own private unsigned OS image through", async () => {
    expect(await outcome(await registered('development@1', undefined), allowing)).toBe('vouched');
  });

  test('never lets through a ramdisk, a public image, or one of another tenant', async () => {
    const row = await registered('development@2', undefined);
    expect(await outcome({ ...row, kind: 'ramdisk' }, allowing)).toBe('unsigned');
    expect(await outcome({ ...row, visibility: 'public' }, allowing)).toBe('unsigned');
    expect(await outcome({ ...row, tenant_id: 'acme' }, allowing)).toBe('unsigned');
  });

  test('never lets through a signed image whose signature fails', async () => {
    const row = await registered('development@3', platform);
    expect(await outcome({ ...row, sha256: 'e'.repeat(64) }, allowing)).toBe('signature');
    expect(await outcome({ ...row, verified: 0 }, allowing)).toBe('signature');
  });
});

describe('signers', () => {
  test('a signer in use cannot be replaced, a revoked one can; its old images do not pass by the new key', async () => {
    const first = await newSigner(centre.directory, 'root', 'renewed');
    const row = await registered('renewed@1', first);
    await expect(newSigner(centre.directory, 'root', 'renewed')).rejects.toMatchObject({ code: 'CONFLICT' });
    await host((store) => revokeImageSigner(store, 'root', 'renewed'));
    await expect(host((store) => revokeImageSigner(store, 'root', 'renewed'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await newSigner(centre.directory, 'root', 'renewed');
    expect(await outcome(row)).toBe('signature');
  });

  test.each([
    ['tenantId', { tenantId: 'a b' }],
    ['signerId', { signerId: '' }],
    ['signerId', { signerId: 'x'.repeat(129) }],
    ['signerId', { signerId: 'two\nlines' }],
    ['publicKey', { publicKey: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' }],
  ])('refuses a bad %s: %j', async (path, change) => {
    const signer = { tenantId: 'root', signerId: 'refused', publicKey: platform.publicKey, ...change };
    await expect(host((store) => addImageSigner(store, signer))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path },
    });
  });

  test('allowlists are rows per tenant with SPKI PEM keys', async () => {
    await newSigner(centre.directory, 'listed', 'one');
    const rows = await host(listImageSigners);
    expect(rows.filter(({ tenant_id }) => tenant_id === 'listed')).toMatchObject([
      {
        signer_id: 'one',
        public_key: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
        revoked_at: null,
      },
    ]);
  });

  test('there is no API method for signers', async () => {
    for (const method of ['signers.add', 'images.addSigner', 'images.revokeSigner'])
      expect(await centre.call(method, {})).toMatchObject({ status: 404 });
  });
});

describe('a verifier of the host', () => {
  const asked: unknown[] = [];
  const verifier: ImageVerifier = async (verification) => {
    asked.push(verification);
    return verification.signature === 'kms' && verification.allowlist === 'root' ? {} : undefined;
  };
  let swapped: TestCentre;
  beforeAll(async () => {
    swapped = await startTestCentre({ images: { verifier } });
  });
  afterAll(() => swapped.close());

  test('decides at registration, asked for the allowlist of the tenant and then of the platform', async () => {
    const image = osImage({ tenantId: 'acme', ref: 'kms@1', signature: 'kms', signerId: 'vault' });
    expect(await mustRegister(swapped.call, image)).toMatchObject({ verified: true, signerId: 'vault' });
    const shared = { signature: 'kms', signerId: 'vault' };
    expect(asked).toEqual([
      { image: expect.objectContaining({ ref: 'kms@1' }), ...shared, allowlist: 'acme' },
      { image: expect.objectContaining({ ref: 'kms@1' }), ...shared, allowlist: 'root' },
    ]);
    const refused = { ...image, ref: 'kms@2', signature: 'AAAA' };
    expect(await swapped.call('images.register', refused)).toMatchObject({
      error: { code: 'INVALID_INPUT', details: { path: 'signature' } },
    });
  });

  test('of a ramdisk it is asked for the platform alone', async () => {
    asked.length = 0;
    const ramdisk = osImage({ tenantId: 'acme', ref: 'kms-ramdisk@1', kind: 'ramdisk' });
    await mustRegister(swapped.call, { ...ramdisk, signature: 'kms', signerId: 'vault' });
    expect(asked).toMatchObject([{ allowlist: 'root' }]);
  });

  test('decides right before use too where it is given for that, and the allowlist does where it is not', async () => {
    const row = await onHost(swapped.directory, ({ store }) =>
      store.selectFrom('images').selectAll().where('ref', '=', 'kms@1').executeTakeFirstOrThrow(),
    );
    expect(await outcome(row, { verifier })).toBe('vouched');
    expect(await outcome(row)).toBe('signature');
  });
});
