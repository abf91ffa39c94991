import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseChallenge } from '#cache/pull/oci/challenge.ts';
import { readManifest } from '#cache/pull/oci/manifest.ts';
import { tokenIn } from '#cache/pull/oci/registryAuthorizer.ts';
import type { CacheImage } from '#contract/images.ts';
import { parseOciSource, registryUrl } from '#contract/ociReference.ts';
import { makeTestCa } from '../fakes/certificates.ts';
import { type RawAnswer, sendAndClose } from '../fakes/rawHttpsServer.ts';
import { type Registry, startRegistry } from './registry.ts';
import { contentOf, imageOf, sourceCa, startCache, startSource, temporaryDirectory } from './testBench.ts';

const ca = await makeTestCa('registry CA');
const bytes = randomBytes(3 * 1024 * 1024 + 17);
const imageManifest = 'application/vnd.oci.image.manifest.v1+json';

/** A manifest of an artifact with these layers. */
const manifestOf = (...layers: string[]) => ({
  schemaVersion: 2,
  mediaType: imageManifest,
  config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: emptyBlob, size: 2 },
  layers: layers.map((digest) => ({ mediaType: 'application/octet-stream', digest, size: 1 })),
});
let emptyBlob = '';

describe('a real registry', () => {
  let registry: Registry;
  beforeAll(async () => {
    registry = await startRegistry(ca);
    emptyBlob = await registry.pushBlob('team/os', Buffer.from('{}'));
  }, 60_000);
  afterAll(() => registry?.close());

  async function pull(image: CacheImage) {
    const cache = await startCache({ directory: await temporaryDirectory(), sourceCa: ca.pem });
    cache.desire([image]);
    await cache.ready(image.digest);
    return contentOf(cache, image.digest);
  }

  test('an artifact is pulled by its digest, whichever way the source names it', async () => {
    const layer = await registry.pushBlob('team/os', bytes);
    const manifest = await registry.pushManifest('team/os', manifestOf(layer), '2026.09');
    for (const reference of [':2026.09', `@${manifest}`, `:2026.09@${manifest}`])
      expect(await pull(imageOf(bytes, `oci://${registry.host}/team/os${reference}`))).toEqual(bytes);
  });

  test('a tag that leads elsewhere today does not matter as long as the registry has the blob', async () => {
    const layer = await registry.pushBlob('team/os', bytes);
    await registry.pushManifest('team/os', manifestOf(layer), 'moved');
    const other = await registry.pushBlob('team/os', Buffer.from('another image'));
    await registry.pushManifest('team/os', manifestOf(other), 'moved');
    expect(await pull(imageOf(bytes, `oci://${registry.host}/team/os:moved`))).toEqual(bytes);
  });

  test('a reference that holds other blobs is told with their digests, through an index too', async () => {
    const other = await registry.pushBlob('team/os', Buffer.from('another image'));
    const manifest = await registry.pushManifest('team/os', manifestOf(other), 'other');
    const listed = {
      mediaType: imageManifest,
      digest: manifest,
      size: JSON.stringify(manifestOf(other)).length,
    };
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [listed],
    };
    await registry.pushManifest('team/os', index, 'list');
    for (const tag of ['other', 'list'])
      await expect(
        pull(imageOf(Buffer.from('never pushed'), `oci://${registry.host}/team/os:${tag}`)),
      ).rejects.toMatchObject({
        code: 'DRIVER_ERROR',
        details: { reason: 'not-in-artifact', found: [other] },
      });
  });

  test('a repository that is not there is not reached', async () => {
    await expect(pull(imageOf(bytes, `oci://${registry.host}/team/none:1`))).rejects.toMatchObject({
      details: { reason: 'unreachable', status: 404 },
    });
  });
});

const challenge = (text: string) =>
  `HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: ${text}\r\nContent-Length: 0\r\n\r\n`;
const whole = (body: Buffer | string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('who asks', () => {
  const ten = Buffer.from('0123456789');

  async function pullFrom(answer: RawAnswer, userinfo = '') {
    const source = await startSource(answer);
    const cache = await startCache({ directory: await temporaryDirectory(), sourceCa });
    const { host } = new URL(source.origin);
    const image = imageOf(ten, `oci://${userinfo}${host}/os:1`);
    cache.desire([image]);
    await cache.ready(image.digest);
    return contentOf(cache, image.digest);
  }

  test('a registry that wants a password gets the one of the URL, and only when it asks', async () => {
    const seen: (string | undefined)[] = [];
    const answer: RawAnswer = (request, socket, count) => {
      seen.push(request.headers.authorization);
      const known = request.headers.authorization === `Basic ${Buffer.from('reader:pw').toString('base64')}`;
      sendAndClose(known ? whole(ten) : challenge('Basic realm="registry"'))(request, socket, count);
    };
    expect(await pullFrom(answer, 'reader:pw@')).toEqual(ten);
    expect(seen[0]).toBeUndefined();
  });

  test('a token comes from the service that the registry names, with the scope that it names', async () => {
    const asked: string[] = [];
    const tokens = await startSource((request, socket, count) => {
      asked.push(`${request.path} ${request.headers.authorization}`);
      sendAndClose(whole(JSON.stringify({ token: 'opaque-token', expires_in: 60 })))(request, socket, count);
    });
    const realm = `Bearer realm="${tokens.origin}/token",service="registry",scope="repository:os:pull"`;
    const answer: RawAnswer = (request, socket, count) =>
      sendAndClose(request.headers.authorization === 'Bearer opaque-token' ? whole(ten) : challenge(realm))(
        request,
        socket,
        count,
      );
    expect(await pullFrom(answer, 'reader:pw@')).toEqual(ten);
    expect(asked).toEqual([
      `/token?service=registry&scope=repository%3Aos%3Apull Basic ${Buffer.from('reader:pw').toString('base64')}`,
    ]);
  });

  test('a blob store elsewhere gets no token', async () => {
    let shown: string | undefined = 'nothing was asked';
    const store = await startSource((request, socket, count) => {
      shown = request.headers.authorization;
      sendAndClose(whole(ten))(request, socket, count);
    });
    const answer: RawAnswer = (request, socket, count) =>
      sendAndClose(
        request.headers.authorization === undefined
          ? challenge('Basic realm="registry"')
          : `HTTP/1.1 307 Temporary Redirect\r\nLocation: ${store.origin}/blob\r\nContent-Length: 0\r\n\r\n`,
      )(request, socket, count);
    expect(await pullFrom(answer, 'reader:pw@')).toEqual(ten);
    expect(shown).toBeUndefined();
  });

  test.each([
    ['a challenge without an answer of ours', 'Basic realm="registry"', { status: 401 }],
    [
      'a token service that is not https',
      'Bearer realm="http://127.0.0.1:9/token"',
      { cause: 'its token service is not https' },
    ],
    ['a challenge of another kind', 'Negotiate', { status: 401 }],
  ])('%s ends the pull and says so', async (_what, text, details) => {
    await expect(pullFrom(sendAndClose(challenge(text)))).rejects.toMatchObject({
      code: 'DRIVER_ERROR',
      details: { reason: 'unreachable', ...details },
    });
  });
});

test.each([
  ['oci://registry.example.com/os:1', 'os', '1'],
  ['oci://registry.example.com:5000/team/images/ubuntu', 'team/images/ubuntu', 'latest'],
  [`oci://registry.example.com/os@sha256:${'a'.repeat(64)}`, 'os', `sha256:${'a'.repeat(64)}`],
  [`oci://registry.example.com/os:1@sha256:${'a'.repeat(64)}`, 'os', `sha256:${'a'.repeat(64)}`],
])('%s', (source, repository, reference) => {
  const parsed = parseOciSource(source);
  expect(parsed).toMatchObject({ repository, reference });
  expect(registryUrl(parsed, 'blobs', 'sha256:1').href).toMatch(
    /^https:\/\/registry\.example\.com(:5000)?\/v2\//,
  );
});

test.each([
  ['https://registry.example.com/os:1', 'scheme'],
  ['oci:///os:1', 'reference'],
  ['oci://registry.example.com/', 'reference'],
  ['oci://registry.example.com/Upper:1', 'reference'],
  ['oci://registry.example.com/os:', 'reference'],
  ['oci://registry.example.com/os@sha256:12', 'reference'],
  ['oci://registry.example.com/os:1?x=1', 'reference'],
])('%s is no OCI source', (source, reason) => {
  expect(() => parseOciSource(source)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: { path: 'source', reason } }),
  );
});

function refusalOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code ?? 'no code';
  }
}

test('every parser takes any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      parseChallenge(text);
      parseChallenge(`Bearer ${text}`);
      readManifest(text);
      tokenIn(text);
      expect(refusalOf(() => parseOciSource(`oci://r/${text}`))).toBeOneOf([undefined, 'INVALID_INPUT']);
    }),
  );
  expect(parseChallenge('Basic realm="a", Bearer realm="https://b/",scope="x,y"')).toEqual({
    scheme: 'bearer',
    realm: 'https://b/',
    scope: 'x,y',
  });
});
