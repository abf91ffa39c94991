import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '#base/log.ts';
import { openCache } from '#cache/imageCache.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import { type Registry, startRegistry } from '../../cache/registry.ts';
import { issueServerIdentity, makeTestCa, type TestCa } from '../../fakes/certificates.ts';
import { serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { type Issuer, service, startIssuer } from '../oci/issuer.ts';
import type { Report } from '../report.ts';

const bytes = randomBytes(24 * 1024 ** 2);
const digest = createHash('sha256').update(bytes).digest('hex');
const repository = 'team/os';
const reader = { user: 'reader', password: 'pw-of-the-reader' };
/** bcrypt of the same. */
const htpasswd = 'reader:$2b$05$abcdefghijklmnopqrstuuacfFF5uRZy7ojv5r68MrWTVntjXzoEa\n';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

export const ociPull: EndToEndCase = {
  name: 'oci-pull',
  about:
    "artifacts come from Debian's docker-registry over TLS, by tokens and by password, by every kind of reference, by a redirect",
  run: async (report) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-oci-'));
    const ca = await makeTestCa('registry CA');
    const issuer = await startIssuer(ca, reader);
    try {
      await byToken(report, { directory, ca, issuer });
      await byPassword(report, directory, ca);
      await byRedirect(report, directory, ca);
    } finally {
      await issuer.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

interface Scene {
  directory: string;
  ca: TestCa;
  issuer: Issuer;
}

async function byToken(report: Report, { directory, ca, issuer }: Scene): Promise<void> {
  report.phase('by token');
  const registry = await startRegistry(ca, {
    authorization: (name) => `Bearer ${issuer.token(name, ['pull', 'push'])}`,
    config: async (files) => {
      const rootcertbundle = path.join(files, 'issuers.pem');
      await writeFile(rootcertbundle, ca.pem);
      return { auth: { token: { realm: issuer.realm, service, issuer: issuer.name, rootcertbundle } } };
    },
  });
  try {
    const { manifest, index } = await push(registry);
    const host = `${reader.user}:${reader.password}@${registry.host}`;
    for (const [how, reference] of [
      ['a tag', ':2026.09'],
      ['a digest', `@${manifest}`],
      ['a tag and a digest', `:2026.09@${manifest}`],
      ['an index (manifest list)', ':list'],
      ['the digest of an index', `@${index}`],
      ['an artifact manifest', ':artifact'],
    ] as const) {
      const row = await pull(directory, ca, `oci://${host}/${repository}${reference}`);
      report.check(`by ${how}`, row?.state === 'ready', row);
    }
    const [asked] = issuer.requests;
    const query = new URL(asked?.path ?? '', issuer.realm).searchParams;
    report.check(
      'the token was asked for as the registry said',
      query.get('service') === service && query.get('scope') === `repository:${repository}:pull`,
      asked?.path,
    );
    const wrong = await pull(directory, ca, `oci://reader:wrong@${registry.host}/${repository}:2026.09`);
    report.check('a wrong password is refused and said', wrong?.error?.details?.status === 401, wrong);
    const told = JSON.stringify(wrong);
    report.check('and is not in what is said', !told.includes('wrong@') && !told.includes('reader:'), told);
    const other = await pull(directory, ca, `oci://${host}/${repository}:other`, '0'.repeat(64));
    report.check(
      'a tag that leads to other bytes is told with what it has',
      other?.error?.details?.reason === 'not-in-artifact',
      other,
    );
  } finally {
    await registry.close();
  }
}

async function byPassword(report: Report, directory: string, ca: TestCa): Promise<void> {
  report.phase('by password');
  const pair = Buffer.from(`${reader.user}:${reader.password}`).toString('base64');
  const registry = await startRegistry(ca, {
    authorization: () => `Basic ${pair}`,
    config: async (files) => {
      const file = path.join(files, 'htpasswd');
      await writeFile(file, htpasswd);
      return { auth: { htpasswd: { realm: 'registry', path: file } } };
    },
  });
  try {
    await push(registry);
    const row = await pull(
      directory,
      ca,
      `oci://${reader.user}:${reader.password}@${registry.host}/${repository}:2026.09`,
    );
    report.check('by user and password', row?.state === 'ready', row);
    const stranger = await pull(directory, ca, `oci://${registry.host}/${repository}:2026.09`);
    report.check('without them it is refused', stranger?.error?.details?.status === 401, stranger);
  } finally {
    await registry.close();
  }
}

/** The registry sends whoever reads a blob to the store behind it, as those of clouds do. */
async function byRedirect(report: Report, directory: string, ca: TestCa): Promise<void> {
  report.phase('by a redirect');
  const store = await startRawHttps(await issueServerIdentity(ca), serveBytes(bytes));
  const pair = Buffer.from(`${reader.user}:${reader.password}`).toString('base64');
  const registry = await startRegistry(ca, {
    authorization: () => `Basic ${pair}`,
    config: async (files) => {
      const file = path.join(files, 'htpasswd');
      await writeFile(file, htpasswd);
      return {
        auth: { htpasswd: { realm: 'registry', path: file } },
        middleware: { storage: [{ name: 'redirect', options: { baseurl: store.origin } }] },
      };
    },
  });
  try {
    await registry.pushBlob(repository, bytes);
    const source = `oci://${reader.user}:${reader.password}@${registry.host}/${repository}:none`;
    const row = await pull(directory, ca, source);
    report.check('the blob comes from the store', row?.state === 'ready', row);
    const [asked] = store.requests;
    report.check('which was asked for it', asked?.path.includes(digest) === true, store.requests);
    report.check('and was shown no credentials', asked?.headers.authorization === undefined, asked);
  } finally {
    await registry.close();
    await store.close();
  }
}

/** The artifact under each kind of reference, and another one under `other`. */
async function push(registry: Registry): Promise<{ manifest: string; index: string }> {
  const config = await registry.pushBlob(repository, Buffer.from('{}'));
  const layer = await registry.pushBlob(repository, bytes);
  const other = await registry.pushBlob(repository, Buffer.from('another image'));
  const manifestOf = (blob: string, more: object = {}) => ({
    ...{ schemaVersion: 2, mediaType: manifestType, ...more },
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: config, size: 2 },
    layers: [{ mediaType: 'application/octet-stream', digest: blob, size: 1 }],
  });
  const manifest = await registry.pushManifest(repository, manifestOf(layer), '2026.09');
  await registry.pushManifest(repository, manifestOf(other), 'other');
  const artifactType = 'application/vnd.railhead.image';
  await registry.pushManifest(repository, manifestOf(layer, { artifactType }), 'artifact');
  const size = Buffer.byteLength(JSON.stringify(manifestOf(layer)));
  const listed = { mediaType: manifestType, digest: manifest, size };
  const index = {
    ...{ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [listed] },
  };
  return { manifest, index: await registry.pushManifest(repository, index, 'list') };
}

/** What became of the image in a new cache. */
async function pull(
  directory: string,
  ca: TestCa,
  source: string,
  wanted = digest,
): Promise<CachedImage | undefined> {
  const home = await mkdtemp(path.join(directory, 'cache-'));
  const cache = await openCache({
    directory: home,
    quotaBytes: 1024 ** 3,
    sourceCa: ca.pem,
    log: silentLog(),
  });
  const facts = { ref: 'demo@1', kind: 'os', format: 'raw', compression: 'none' } as const;
  const image: CacheImage = { ...facts, digest: wanted, sources: [source] };
  try {
    cache.desire([image]);
    await cache.ready(wanted).catch(() => {});
    return cache.state(wanted);
  } finally {
    await cache.close();
    await rm(home, { recursive: true });
  }
}
