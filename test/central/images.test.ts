import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { onHost } from '#central/host.ts';
import { addImageSigner, revokeImageSigner } from '#central/images/signers.ts';
import { type Image, imageSigningInput } from '#contract/images.ts';
import {
  mustRegister,
  newSigner,
  osImage,
  startTestCentre,
  type TestCentre,
  type TestSigner,
} from './centre.ts';

let centre: TestCentre;
let platform: TestSigner;
let tenantSigner: TestSigner;

beforeAll(async () => {
  centre = await startTestCentre();
  platform = await newSigner(centre.directory);
  tenantSigner = await newSigner(centre.directory, 'acme', 'acme-builds');
});
afterAll(() => centre.close());

const invalid = (path: string) => ({ status: 400, error: { code: 'INVALID_INPUT', details: { path } } });

describe('register', () => {
  test('fills in the defaults, lowers the digest and is private and unverified without a signature', async () => {
    const { tenantId, ref, format, source } = osImage({
      ref: 'plain@1',
      source: 'oci://registry.example.com/os:1',
    });
    const { status, data } = await centre.call('images.register', {
      tenantId,
      ref,
      format,
      source,
      sha256: 'A'.repeat(64),
    });
    expect({ status, data }).toMatchObject({
      status: 200,
      data: {
        imageId: expect.stringMatching(/^img_[0-9a-hjkmnp-tv-z]{26}$/),
        kind: 'os',
        compression: 'none',
        sha256: 'a'.repeat(64),
        verified: false,
        visibility: 'private',
      },
    });
  });

  test('marks an image verified that a signer of the tenant or of the platform signed', async () => {
    const byTenant = tenantSigner.signed(osImage({ tenantId: 'acme', ref: 'by-tenant@1' }));
    const byPlatform = platform.signed(osImage({ tenantId: 'acme', ref: 'by-platform@1' }));
    expect(await mustRegister(centre.call, byTenant)).toMatchObject({
      verified: true,
      signerId: 'acme-builds',
    });
    expect(await mustRegister(centre.call, byPlatform)).toMatchObject({
      verified: true,
      signerId: 'platform-2026',
    });
  });

  test("refuses a signature of another tenant's signer", async () => {
    const image = tenantSigner.signed(osImage({ tenantId: 'other', ref: 'foreign@1' }));
    expect(await centre.call('images.register', image)).toMatchObject(invalid('signature'));
  });

  test.each([
    ['ref', { ref: 'changed@2' }],
    ['format', { format: 'qcow2' }],
    ['compression', { compression: 'gzip' }],
    ['digest', { sha256: 'b'.repeat(64) }],
    ['signature', { signature: 'bm90IGEgc2lnbmF0dXJl' }],
    ['signer', { signerId: 'nobody' }],
  ])('refuses a signature once the %s was changed', async (_, change) => {
    const image = platform.signed(osImage({ ref: 'signed@1' }));
    expect(await centre.call('images.register', { ...image, ...change })).toMatchObject(invalid('signature'));
  });

  test('refuses a signature of a signer that was revoked', async () => {
    const gone = await newSigner(centre.directory, 'root', 'gone');
    await onHost(centre.directory, ({ store }) => revokeImageSigner(store, 'root', 'gone'));
    const image = gone.signed(osImage({ ref: 'late@1' }));
    expect(await centre.call('images.register', image)).toMatchObject(invalid('signature'));
  });

  test('refuses a signature without a signer, and a signer without a signature', async () => {
    const { signature, signerId, ...image } = platform.signed(osImage({ ref: 'half@1' }));
    expect(await centre.call('images.register', { ...image, signature })).toMatchObject(invalid('signerId'));
    expect(await centre.call('images.register', { ...image, signerId })).toMatchObject(invalid('signature'));
  });

  test("takes a ramdisk by a platform signer only, even in the signer's own tenant", async () => {
    const ramdisk = osImage({ tenantId: 'acme', kind: 'ramdisk', ref: 'ramdisk@1' });
    expect(await centre.call('images.register', ramdisk)).toMatchObject(invalid('signature'));
    expect(await centre.call('images.register', tenantSigner.signed(ramdisk))).toMatchObject(
      invalid('signature'),
    );
    expect(await mustRegister(centre.call, platform.signed(ramdisk))).toMatchObject({
      verified: true,
      kind: 'ramdisk',
    });
  });

  test('refuses a second image of the same ref in a tenant, not in another', async () => {
    await mustRegister(centre.call, osImage({ ref: 'twice@1' }));
    expect(await centre.call('images.register', osImage({ ref: 'twice@1' }))).toMatchObject({
      status: 409,
      error: { code: 'CONFLICT', details: { path: 'ref', ref: 'twice@1' } },
    });
    await mustRegister(centre.call, osImage({ tenantId: 'acme', ref: 'twice@1' }));
  });

  test.each([
    ['tenantId', { tenantId: 'a b' }],
    ['ref', { ref: '' }],
    ['ref', { ref: 'x'.repeat(201) }],
    ['format', { format: 'vmdk' }],
    ['compression', { compression: 'xz' }],
    ['sha256', { sha256: 'f'.repeat(63) }],
    ['sizeBytes', { sizeBytes: -1 }],
    ['sizeBytes', { sizeBytes: '12' }],
    ['source', { source: 'http://images.example.com/os.raw' }],
    ['source', { source: 'https://user:secret@images.example.com/os.raw' }],
    ['source', { source: undefined }],
    ['colour', { colour: 'blue' }],
  ])('names the field %s of a bad input', async (path, change) => {
    expect(await centre.call('images.register', { ...osImage({ ref: 'bad@1' }), ...change })).toMatchObject(
      invalid(path),
    );
  });

  test.each([
    ['Ed25519', ['genpkey', '-algorithm', 'ed25519'], ['-rawin']],
    [
      'ECDSA P-256',
      ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      ['-rawin', '-digest', 'sha256'],
    ],
  ])('takes a signature that openssl made with %s', async (name, generate, flags) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-openssl-'));
    const file = (base: string) => path.join(folder, base);
    const image = osImage({ tenantId: 'acme', ref: `openssl-${name}@1` });
    await run('openssl', [...generate, '-out', file('key.pem')]);
    await run('openssl', ['pkey', '-in', file('key.pem'), '-pubout', '-out', file('public.pem')]);
    await writeFile(file('input'), imageSigningInput(image));
    const signing = ['-inkey', file('key.pem'), '-in', file('input'), '-out', file('signature')];
    await run('openssl', ['pkeyutl', '-sign', ...flags, ...signing]);
    const signer = {
      tenantId: 'acme',
      signerId: `openssl ${name}`,
      publicKey: await readFile(file('public.pem'), 'utf8'),
    };
    await onHost(centre.directory, ({ store }) => addImageSigner(store, signer));
    const signature = (await readFile(file('signature'))).toString('base64');
    const signed = { ...image, signature, signerId: signer.signerId };
    expect(await mustRegister(centre.call, signed)).toMatchObject({ verified: true });
  });

  test('takes an ECDSA signature in IEEE P1363 encoding', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    await onHost(centre.directory, ({ store }) =>
      addImageSigner(store, { tenantId: 'acme', signerId: 'p1363', publicKey: pem }),
    );
    const image = osImage({ tenantId: 'acme', ref: 'p1363@1' });
    const signature = sign('sha256', imageSigningInput(image), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    }).toString('base64');
    expect(await mustRegister(centre.call, { ...image, signature, signerId: 'p1363' })).toMatchObject({
      verified: true,
    });
  });
});

describe('get', () => {
  test("shows the tenant's own image and a public one, and hides another tenant's", async () => {
    const own = await mustRegister(
      centre.call,
      platform.signed(osImage({ tenantId: 'acme', ref: 'shown@1' })),
    );
    const get = (tenantId: string) => centre.call<Image>('images.get', { tenantId, imageId: own.imageId });
    expect((await get('acme')).data).toEqual(own);
    expect(await get('other')).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } });
    await centre.call('images.promote', { tenantId: 'acme', imageId: own.imageId });
    expect((await get('other')).data).toMatchObject({ imageId: own.imageId, visibility: 'public' });
  });

  test('refuses what is no image id', async () => {
    expect(await centre.call('images.get', { tenantId: 'acme', imageId: 'img_IL' })).toMatchObject(
      invalid('imageId'),
    );
  });
});

describe('promote', () => {
  test('refuses an unsigned image, and one of another tenant even when it is public', async () => {
    const unsigned = await mustRegister(centre.call, osImage({ ref: 'unsigned@1' }));
    expect(
      await centre.call('images.promote', { tenantId: 'root', imageId: unsigned.imageId }),
    ).toMatchObject({
      status: 409,
      error: { code: 'INVALID_STATE', details: { reason: 'unsigned' } },
    });
    const shared = await mustRegister(centre.call, platform.signed(osImage({ ref: 'shared@1' })));
    const promote = (tenantId: string) =>
      centre.call<Image>('images.promote', { tenantId, imageId: shared.imageId });
    expect((await promote('root')).data).toMatchObject({ visibility: 'public' });
    expect((await promote('root')).data).toEqual({ ...shared, visibility: 'public' });
    expect(await promote('acme')).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } });
  });

  test('the table itself refuses to make an unsigned image public', async () => {
    const unsigned = await mustRegister(centre.call, osImage({ ref: 'unsigned@2' }));
    const write = onHost(centre.directory, ({ store }) =>
      store
        .updateTable('images')
        .set({ visibility: 'public' })
        .where('image_id', '=', unsigned.imageId)
        .execute(),
    );
    await expect(write).rejects.toThrow(/check constraint/i);
  });
});

describe('list', () => {
  test('pages through own and public images in the order of their refs, also of the longest', async () => {
    const refs = ['c@1', 'a@1', 'b@1', `${'z'.repeat(198)}@1`, `${'z'.repeat(198)}@2`];
    for (const ref of refs) await mustRegister(centre.call, osImage({ tenantId: 'paged', ref }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const input = { tenantId: 'paged', limit: 2, ...(cursor && { cursor }) };
      const { data } = await centre.call<{ items: Image[]; cursor?: string }>('images.list', input);
      expect(data.items.length).toBeLessThanOrEqual(2);
      expect(data.cursor?.length ?? 0).toBeLessThanOrEqual(256);
      seen.push(...data.items.filter(({ tenantId }) => tenantId === 'paged').map(({ ref }) => ref));
      cursor = data.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(refs.toSorted());
  });

  test('filters by kind', async () => {
    await mustRegister(
      centre.call,
      platform.signed(osImage({ tenantId: 'kinds', kind: 'ramdisk', ref: 'r@1' })),
    );
    await mustRegister(centre.call, osImage({ tenantId: 'kinds', ref: 'o@1' }));
    const { data } = await centre.call<{ items: Image[] }>('images.list', {
      tenantId: 'kinds',
      kind: 'ramdisk',
    });
    expect(data.items.map(({ ref }) => ref)).toEqual(['r@1']);
  });

  test.each(['nonsense', Buffer.from('[1]').toString('base64url'), Buffer.from('{}').toString('base64url')])(
    'refuses the cursor %s',
    async (cursor) => {
      expect(await centre.call('images.list', { tenantId: 'root', cursor })).toMatchObject(invalid('cursor'));
    },
  );

  test.each([0, 201, 1.5])('refuses a limit of %s', async (limit) => {
    expect(await centre.call('images.list', { tenantId: 'root', limit })).toMatchObject(invalid('limit'));
  });
});
