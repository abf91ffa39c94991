import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Type from 'typebox';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import { addImageSigner, provisionModule } from '#library/provision.ts';
import { type Compute, createToken, metal, openCompute } from '#library/railhead.ts';
import { asModule, readSample } from './samples.ts';

/** The samples are modules of this package while they run, so that its own `exports` lead to the library. */
let samples: string;

beforeAll(async () => {
  samples = await mkdtemp(path.join(import.meta.dirname, '.samples-'));
});
afterAll(() => rm(samples, { recursive: true }));

async function load(name: string, text: string): Promise<Record<string, unknown>> {
  const file = path.join(samples, `${name}.ts`);
  await writeFile(file, text);
  return import(file);
}

async function started(modules: Parameters<typeof openCompute>[0]['modules'] = []) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-library-'));
  const any = { host: '127.0.0.1', port: 0 };
  const compute = await openCompute({ directory, api: any, agents: any, names: ['127.0.0.1'], modules });
  onTestFinished(async () => {
    await compute.close();
    await rm(directory, { recursive: true });
  });
  const grants = ['compute:*@compute-fleet:*'];
  const { token } = await createToken({ directory }, { name: 'sample', grants, validMs: 60_000 });
  return { compute, credential: token, directory };
}

async function newSite(compute: Compute, credential: string): Promise<string> {
  const { siteId } = (await compute.api.sites.create?.(credential, { name: 'lab' })) ?? {};
  return siteId as string;
}

test('the sample of a GPU host profile defines a profile, deeply frozen, that a module can ship', async () => {
  const sample = await readSample('ubuntu-gpu-host');
  const module = await load('ubuntu-gpu-host', sample.replaceAll("'better-compute/", "'railhead/"));
  const profile = module.ubuntuGpuHost as Profile;
  expect(profile).toMatchObject({
    id: 'ubuntu-24.04-gpu-host',
    version: 1,
    acceptance: [{ use: 'diag.dcgm' }],
  });
  expect(Object.isFrozen(profile.steps?.[0])).toBe(true);
  const { compute, credential } = await started([provisionModule({ profiles: [profile] })]);
  const found = await compute.api.profiles.get(credential, { tenantId: 'acme', profileId: profile.id });
  expect(found).toMatchObject({ tenantId: 'builtin', profileId: profile.id, profileVersion: 1 });
});

test('the sample of a hardware profile configures metal and makes a pool that names it', async () => {
  const sample = await readSample('hardware-profile');
  const [configuration = ''] = sample.split('\nawait ');
  const first = await load(
    'configure',
    asModule(configuration.replace('metal(', 'return metal('), ['metal']),
  );
  const module = await (first.run as (given: object) => Promise<ReturnType<typeof metal>>)({ metal });
  const { compute, credential } = await started([module]);
  const siteId = await newSite(compute, credential);
  const whole = await load(
    'hardware-profile',
    asModule(sample, ['metal', 'compute', 'credential', 'siteId']),
  );
  await (whole.run as (given: object) => Promise<void>)({ metal, compute, credential, siteId });
  const pools = (await compute.api.pools.list?.(credential as never, { tenantId: 'root' } as never)) as {
    items: { policy: object }[];
  };
  expect(pools.items[0]?.policy).toMatchObject({ hardwareProfile: 'gpu-redfish' });
});

test('the sample of an image signs its input and registers it verified', async () => {
  const { compute, credential, directory } = await started([provisionModule()]);
  const { publicKey, privateKey: signingKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  await addImageSigner({ directory }, { tenantId: 'root', signerId: 'platform-2026', publicKey: pem });
  const sample = (await readSample('register-image')).replace('<64 hex digits>', 'AB'.repeat(32));
  const module = await load('register-image', asModule(sample, ['compute', 'credential', 'signingKey']));
  await (module.run as (given: object) => Promise<void>)({ compute, credential, signingKey });
  const { items } = await compute.api.images.list(credential, { tenantId: 'root', kind: 'os' });
  expect(items).toMatchObject([
    {
      ref: 'ubuntu-24.04-server@2026.09',
      verified: true,
      visibility: 'private',
      sha256: 'ab'.repeat(32),
      sizeBytes: 3_221_225_472,
    },
  ]);
});

test('a call without HTTP is authorised, validated and audited as one that comes in by the door', async () => {
  const { compute, directory, credential } = await started();
  const image = {
    tenantId: 'root',
    ref: 'a@1',
    format: 'raw',
    sha256: 'a'.repeat(64),
    source: 'https://x/a',
  } as const;
  const refused = (attempt: Promise<unknown>) =>
    attempt.then(
      () => undefined,
      (error: RailheadError) => [
        error.code,
        error.details.path ?? error.details.reason ?? error.details.action,
      ],
    );
  const { token } = await createToken(
    { directory },
    { name: 'reader', grants: ['compute:images:read@compute-tenant:root'], validMs: 60_000 },
  );
  expect(await refused(compute.api.images.register('rht_nobody', image))).toEqual([
    'UNAUTHENTICATED',
    'unknown',
  ]);
  expect(await refused(compute.api.images.register(token, image))).toEqual([
    'FORBIDDEN',
    'compute:images:publish',
  ]);
  expect(await refused(compute.api.images.register(credential, { ...image, sha256: 'x' }))).toEqual([
    'INVALID_INPUT',
    'sha256',
  ]);
  const registered = await compute.api.images.register(credential, image);
  expect(registered).toMatchObject({ kind: 'os', compression: 'none', verified: false });
  expect(await compute.api.images.get(token, { tenantId: 'root', imageId: registered.imageId })).toEqual(
    registered,
  );
});

test("units that a module adds are known to 'validate', and no others", async () => {
  const configUnits = [{ name: 'motd', settings: Type.Object({ text: Type.String() }) }];
  const { compute, credential } = await started([provisionModule({ configUnits })]);
  const validate = async (version: number, hostConfig: object) => {
    const document = { id: 'host', version, target: 'metal', hostConfig };
    await compute.api.profiles.create(credential, { tenantId: 'root', document });
    const asked = { tenantId: 'root', profileId: 'host', profileVersion: version };
    return compute.api.profiles.validate(credential, asked);
  };
  expect(await validate(1, { motd: { text: 'hello' }, sysctl: {} })).toMatchObject({
    valid: true,
    issues: [],
  });
  expect(await validate(2, { motd: { text: 5 }, ntp: {} })).toMatchObject({
    valid: false,
    issues: [{ path: 'hostConfig.motd.text' }, { path: 'hostConfig.ntp' }],
  });
});
