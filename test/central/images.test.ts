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

  test('of two calls at once for one ref one wins and the other is CONFLICT', async () => {
    const register = () => centre.call('images.register', osImage({ tenantId: 'race', ref: 'once@1' }));
    const answers = await Promise.all([register(), register(), register()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const { data } = await centre.call<{ items: Image[] }>('images.list', { tenantId: 'race' });
    expect(data.items.filter(({ tenantId }) => tenantId === 'race')).toHaveLength(1);
  });

  test('takes each field up to its bounds', async () => {
    const long = 'https://images.example.com/';
    const bounds = { tenantId: 'A._:-9'.padEnd(128, 'x'), ref: `${'x'.repeat(198)}@1`, sizeBytes: 0 };
    const image = { ...osImage(bounds), source: long.padEnd(2048, 's'), sha256: 'aB'.repeat(32) };
    expect(await mustRegister(centre.call, image)).toMatchObject({ ...bounds, sha256: 'ab'.repeat(32) });
  });

  test.each([
    ['tenantId', { tenantId: 'a b' }],
    ['tenantId', { tenantId: 'x'.repeat(129) }],
    ['tenantId', { tenantId: '' }],
    ['tenantId', { tenantId: undefined }],
    ['ref', { ref: '' }],
    ['ref', { ref: `${'x'.repeat(199)}@1` }],
    ['ref', { ref: 'no-version' }],
    ['ref', { ref: 'no-version@' }],
    ['ref', { ref: '@1' }],
    ['ref', { ref: 'two@at@1' }],
    ['ref', { ref: 'a@1\nraw' }],
    ['kind', { kind: 'vm' }],
    ['format', { format: 'vmdk' }],
    ['format', { format: undefined }],
    ['compression', { compression: 'xz' }],
    ['sha256', { sha256: 'f'.repeat(63) }],
    ['sha256', { sha256: 'f'.repeat(65) }],
    ['sha256', { sha256: 'g'.repeat(64) }],
    ['sha256', { sha256: undefined }],
    ['sizeBytes', { sizeBytes: -1 }],
    ['sizeBytes', { sizeBytes: 1.5 }],
    ['sizeBytes', { sizeBytes: 1e300 }],
    ['sizeBytes', { sizeBytes: '12' }],
    ['source', { source: '' }],
    ['source', { source: 'https://images.example.com/'.padEnd(2049, 's') }],
    ['source', { source: 'http://images.example.com/os.raw' }],
    ['source', { source: 'file:///etc/passwd' }],
    ['source', { source: 'oci:///os:1' }],
    ['source', { source: 'oci://registry.example.com/Upper:1' }],
    ['source', { source: 'https:images.example.com/os.raw' }],
    ['source', { source: ' https://images.example.com/os.raw' }],
    ['ref', { ref: 'a b@1' }],
    ['ref', { ref: 'a@1@2' }],
    ['source', { source: 'images.example.com/os.raw' }],
    ['source', { source: 'https://user:secret@images.example.com/os.raw' }],
    ['source', { source: undefined }],
    ['signature', { signature: '', signerId: 'platform-2026' }],
    ['signature', { signature: 'A'.repeat(1025), signerId: 'platform-2026' }],
    ['signerId', { signature: 'AAAA', signerId: '' }],
    ['signerId', { signature: 'AAAA', signerId: 'x'.repeat(129) }],
    ['colour', { colour: 'blue' }],
  ])('names the field %s of a bad input: %j', async (path, change) => {
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
    const image = osImage({ tenantId: 'acme', ref: `openssl-${name.replaceAll(' ', '-')}@1` });
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

  test.each([
    ['IEEE P1363', 'ieee-p1363'],
    ['DER, as cosign sign-blob writes it,', 'der'],
  ] as const)('takes an ECDSA P-256 signature in %s', async (_, dsaEncoding) => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signerId = `ecdsa-${dsaEncoding}`;
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    await onHost(centre.directory, ({ store }) =>
      addImageSigner(store, { tenantId: 'acme', signerId, publicKey: pem }),
    );
    const image = osImage({ tenantId: 'acme', ref: `${dsaEncoding}@1` });
    const bytes = sign('sha256', imageSigningInput(image), { key: privateKey, dsaEncoding });
    const signed = { ...image, signature: bytes.toString('base64'), signerId };
    expect(await mustRegister(centre.call, signed)).toMatchObject({ verified: true });
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

  test.each([
    'img_IL',
    `img_${'0'.repeat(25)}`,
    `img_${'0'.repeat(53)}`,
    `img_${'u'.repeat(26)}`,
    'node_1',
    '',
  ])('refuses what is no image id: %s', async (imageId) => {
    expect(await centre.call('images.get', { tenantId: 'acme', imageId })).toMatchObject(invalid('imageId'));
  });

  test.each([26, 52])('an image id of %i characters that names nothing is NOT_FOUND', async (length) => {
    const imageId = `img_${'0'.repeat(length)}`;
    for (const method of ['images.get', 'images.promote'])
      expect(await centre.call(method, { tenantId: 'acme', imageId })).toMatchObject({
        status: 404,
        error: { code: 'NOT_FOUND' },
      });
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

  const idsOf = async (input: object): Promise<string[]> => {
    const { data } = await centre.call<{ items: Image[]; cursor?: string }>('images.list', {
      limit: 2,
      ...input,
    });
    const next = data.cursor === undefined ? [] : await idsOf({ ...input, cursor: data.cursor });
    return [...data.items.map(({ imageId }) => imageId), ...next];
  };

  test("shows the tenant's own and the public image of one ref, each once, and no other tenant's private one", async () => {
    const register = (tenantId: string) =>
      mustRegister(centre.call, platform.signed(osImage({ tenantId, ref: 'same@7' })));
    const [mine, shared, hidden] = [
      await register('mine'),
      await register('sharing'),
      await register('hiding'),
    ];
    await centre.call('images.promote', { tenantId: 'sharing', imageId: shared.imageId });
    const ids = await idsOf({ tenantId: 'mine' });
    expect(ids.filter((id) => id === mine.imageId)).toHaveLength(1);
    expect(ids.filter((id) => id === shared.imageId)).toHaveLength(1);
    expect(ids).not.toContain(hidden.imageId);
    expect((await idsOf({ tenantId: 'sharing' })).filter((id) => id === shared.imageId)).toHaveLength(1);
  });

  test('pages on where the page before ended, whatever was registered meanwhile', async () => {
    const register = (ref: string) => mustRegister(centre.call, osImage({ tenantId: 'growing', ref }));
    const refs = ['~b@1', '~d@1', '~f@1', '~h@1'];
    for (const ref of refs) await register(ref);
    const own = (items: Image[]) => items.filter(({ ref }) => ref.startsWith('~')).map(({ ref }) => ref);
    const list = (more: object) =>
      centre.call<{ items: Image[]; cursor: string }>('images.list', { tenantId: 'growing', ...more });
    const all = (await list({ limit: 200 })).data.items;
    const limit = all.findIndex(({ ref }) => ref === '~d@1') + 1;
    const first = (await list({ limit })).data;
    for (const ref of ['~a@1', '~c@1', '~g@1']) await register(ref);
    const second = (await list({ limit: 200, cursor: first.cursor })).data;
    expect(own(first.items)).toEqual(['~b@1', '~d@1']);
    expect(own(second.items)).toEqual(['~f@1', '~g@1', '~h@1']);
  });

  test('a page has 50 images unless a limit of at most 200 says otherwise', async () => {
    const rows = Array.from({ length: 201 }, (_, at) => ({ tenantId: 'many', ref: `many-${1000 + at}@1` }));
    for (const row of rows) await mustRegister(centre.call, osImage(row));
    const page = async (input: object) =>
      (await centre.call<{ items: Image[]; cursor?: string }>('images.list', { tenantId: 'many', ...input }))
        .data;
    expect((await page({})).items).toHaveLength(50);
    expect((await page({ limit: 200 })).items).toHaveLength(200);
    expect(await page({ limit: 200 })).toHaveProperty('cursor');
  });

  test("refuses a cursor that names another tenant's private image", async () => {
    const foreign = await mustRegister(centre.call, osImage({ tenantId: 'secretive', ref: 'x@1' }));
    const cursor = Buffer.from(JSON.stringify([foreign.imageId])).toString('base64url');
    expect(await centre.call('images.list', { tenantId: 'curious', cursor })).toMatchObject(
      invalid('cursor'),
    );
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

  test.each([
    'nonsense',
    'x'.repeat(257),
    Buffer.from('[1]').toString('base64url'),
    Buffer.from('{}').toString('base64url'),
  ])('refuses the cursor %s', async (cursor) => {
    expect(await centre.call('images.list', { tenantId: 'root', cursor })).toMatchObject(invalid('cursor'));
  });

  test.each([0, 201, 1.5])('refuses a limit of %s', async (limit) => {
    expect(await centre.call('images.list', { tenantId: 'root', limit })).toMatchObject(invalid('limit'));
  });
});

describe('grants', () => {
  const outcome = async (grant: string, method: string, input: object) => {
    const call = await centre.tokenFor(grant);
    const { status, error } = await call(method, input);
    return status === 200 ? 'allowed' : error.code;
  };

  test.each([
    ['compute:images:publish@compute-tenant:granted', 'allowed'],
    ['compute:images:publish@compute-fleet:fleet', 'allowed'],
    ['compute:images:read@compute-tenant:granted', 'FORBIDDEN'],
    ['compute:images:publish@compute-tenant:other', 'FORBIDDEN'],
  ])(
    'register is decided as compute:images:publish on the tenant: by %s it is %s',
    async (grant, expected) => {
      await centre.call('tenants.create', { tenantId: 'granted' });
      const image = osImage({ tenantId: 'granted', ref: `by-${grant.replaceAll('@', '-')}@1` });
      expect(await outcome(grant, 'images.register', image)).toBe(expected);
    },
  );

  test('get is decided as compute:images:read, promote as compute:images:publish, each on the image', async () => {
    const image = platform.signed(osImage({ tenantId: 'granted', ref: 'item@1' }));
    const { imageId, tenantId } = await mustRegister(centre.call, image);
    const input = { tenantId, imageId };
    expect(await outcome(`compute:images:read@compute-image:${imageId}`, 'images.get', input)).toBe(
      'allowed',
    );
    expect(await outcome(`compute:images:read@compute-image:${imageId}`, 'images.promote', input)).toBe(
      'FORBIDDEN',
    );
    expect(await outcome(`compute:images:publish@compute-image:${imageId}`, 'images.promote', input)).toBe(
      'allowed',
    );
    expect(await outcome('compute:images:read@compute-image:img_other', 'images.get', input)).toBe(
      'FORBIDDEN',
    );
  });

  test('list is decided as compute:images:read on the tenant', async () => {
    const list = (grant: string) => outcome(grant, 'images.list', { tenantId: 'granted' });
    expect(await list('compute:images:read@compute-tenant:granted')).toBe('allowed');
    expect(await list('compute:images:publish@compute-tenant:granted')).toBe('FORBIDDEN');
  });
});
