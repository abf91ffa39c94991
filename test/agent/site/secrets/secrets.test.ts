import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openAtRestKeys } from '#agent/site/secrets/atRestKey.ts';
import { bmcCredentials } from '#agent/site/secrets/bmcCredentials.ts';
import { openHeldSecrets } from '#agent/site/secrets/heldSecrets.ts';
import { createSecrets } from '#agent/site/secrets/secrets.ts';
import { openSecretStore } from '#agent/site/secrets/store.ts';
import { openState } from '#agent/site/store/state.ts';
import { sealText } from '#base/jwe.ts';
import { silentLog } from '#base/log.ts';
import { openSealer } from '#base/sealing.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { type SecretAnswer, type SecretRequest, type SecretVersion, secretTyp } from '#contract/secrets.ts';

const secret = { secretId: 'sec_one', version: 1 };
const text = 'admin:marker-of-the-site';
const bmc = { driver: 'redfish', address: 'https://bmc', credentialRef: 'secret://bmc/one' } as const;
const nodes: SiteNode[] = [{ nodeId: 'node_1', macs: [], bmc, bmcSecret: secret }];

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-secrets-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A site with its own keys, and a centre that gives out these texts by secret id. */
async function setUp(
  texts: Record<string, SecretVersion & { text: string }> = { sec_one: { ...secret, text } },
) {
  const directory = await temporaryDirectory();
  const state = await openState(directory);
  onTestFinished(() => state.close());
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const requests: SecretRequest[] = [];
  const centre = {
    down: false,
    seal: (content: object) => sealText(secretTyp, JSON.stringify(content), publicKey),
    secrets: async (request: SecretRequest): Promise<SecretAnswer> => {
      requests.push(request);
      if (centre.down) throw new RailheadError('UNAVAILABLE', 'the centre is away');
      const due = request.secretIds.flatMap((id) => texts[id] ?? []);
      const sealed = due.map(async (content) => {
        const { text: _, ...named } = content;
        return { ...named, sealed: await centre.seal(content) };
      });
      return { protocol: 1, secrets: await Promise.all(sealed) };
    },
  };
  const open = (key = Buffer.alloc(32, 1)) => {
    const store = openSecretStore(state.database, openSealer(key));
    const sealingPrivateKey = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const held = openHeldSecrets(state.database);
    const secrets = createSecrets({ store, held, client: centre, sealingPrivateKey, log: silentLog() });
    onTestFinished(() => secrets.close());
    return { store, secrets };
  };
  return { directory, state, centre, texts, requests, open };
}

test('what the machines need is fetched ahead, and is there while the centre is away', async () => {
  const { open, centre, requests } = await setUp();
  const { store, secrets } = open();
  secrets.desire(nodes);
  await expect.poll(() => store.find(secret)).toBe(text);
  centre.down = true;
  expect(
    await bmcCredentials({ nodeId: 'node_1', bmc, bmcSecret: secret }, secrets, { directory: '/none' }),
  ).toEqual({
    username: 'admin',
    password: 'marker-of-the-site',
  });
  expect(requests).toHaveLength(1);
});

test('what a BMC is being given is fetched ahead and kept as well, and is a second login', async () => {
  const next = { secretId: 'sec_next', version: 1 };
  const { open, centre } = await setUp({
    sec_one: { ...secret, text },
    sec_next: { ...next, text: 'admin:marker-of-the-next' },
  });
  const { store, secrets } = open();
  const both = nodes.map((node) => ({ ...node, bmcNextSecret: next }));
  secrets.desire(both);
  await expect.poll(() => store.find(next)).toBe('admin:marker-of-the-next');
  secrets.desire(both);
  centre.down = true;
  const [node] = both;
  expect(await bmcCredentials({ nodeId: 'node_1', ...node, bmc }, secrets, { directory: '/none' })).toEqual({
    username: 'admin',
    password: 'marker-of-the-site',
    next: { username: 'admin', password: 'marker-of-the-next', id: 'sec_next' },
  });
  secrets.desire(nodes);
  expect(store.find(next)).toBeUndefined();
  // What is not here yet, no BMC was given.
  expect(
    await bmcCredentials({ nodeId: 'node_1', ...node, bmc }, secrets, { directory: '/none' }),
  ).not.toHaveProperty('next');
});

describe('a centre that was restored from a backup of before a change of password', () => {
  const [before, changed, third] = ['sec_one', 'sec_changed', 'sec_third'].map((secretId) => ({
    secretId,
    version: 1,
  })) as [SecretVersion, SecretVersion, SecretVersion];
  const places = { directory: '/none' };
  const login = (name: string) => ({ username: 'admin', password: name });
  const spec = (bmcSecret: SecretVersion, bmcNextSecret?: SecretVersion) => ({
    ...{ nodeId: 'node_1', macs: [], bmc, bmcSecret },
    ...(bmcNextSecret && { bmcNextSecret }),
  });

  async function restored() {
    const all = [before, changed, third].map((one) => [
      one.secretId,
      { ...one, text: `admin:${one.secretId}` },
    ]);
    const scene = await setUp(Object.fromEntries(all));
    const { secrets } = scene.open();
    for (const one of [before, changed]) await secrets.text(one);
    secrets.desire([spec(before, changed)]);
    secrets.desire([spec(changed)]);
    secrets.desire([spec(before)]);
    await secrets.text(before);
    return scene;
  }

  test('takes nothing from the site: what it had is tried when the secret of the centre is refused, also after a restart', async () => {
    const { open } = await restored();
    const { secrets } = open();
    secrets.desire([spec(before)]);
    const next = { ...login('sec_changed'), id: 'sec_changed' };
    expect(await bmcCredentials(spec(before), secrets, places)).toEqual({ ...login('sec_one'), next });
  });

  test('has the password changed by the next rotation: the site says that it is known, and after it nothing is left', async () => {
    const { open } = await restored();
    const { secrets, store } = open();
    const found = { username: 'admin', works: 'next', secretId: 'sec_changed' } as const;
    expect(secrets.settleFormer(spec(before), found)).toEqual({ username: 'admin', works: 'current' });
    secrets.desire([spec(before, third)]);
    await secrets.text(third);
    expect(await bmcCredentials(spec(before, third), secrets, places)).toMatchObject({
      ...login('sec_changed'),
      next: login('sec_third'),
    });
    secrets.desire([spec(third)]);
    expect(store.find(changed)).toBeUndefined();
    expect(await bmcCredentials(spec(third), secrets, places)).toEqual(login('sec_third'));
  });

  test('and whose secret is right after all: the other one is forgotten', async () => {
    const { open } = await restored();
    const { secrets, store } = open();
    const found = { username: 'admin', works: 'current' } as const;
    expect(secrets.settleFormer(spec(before), found)).toEqual(found);
    secrets.desire([spec(before)]);
    expect(store.find(changed)).toBeUndefined();
  });
});

test('a secret that an operator deletes, or whose node goes, is forgotten', async () => {
  const { open } = await setUp();
  const { store, secrets } = open();
  for (const left of [[{ nodeId: 'node_1', macs: [], bmc }], []]) {
    secrets.desire(nodes);
    await secrets.text(secret);
    secrets.desire(left);
    expect(store.find(secret)).toBeUndefined();
  }
});

test('a new version is fetched by whoever needs it first', async () => {
  const { open, texts } = await setUp();
  const { secrets } = open();
  expect(await secrets.text(secret)).toBe(text);
  texts.sec_one = { secretId: 'sec_one', version: 2, text: 'admin:new' };
  expect(await secrets.text({ secretId: 'sec_one', version: 2 })).toBe('admin:new');
});

test('what no machine needs any more is forgotten', async () => {
  const { open } = await setUp();
  const { store, secrets } = open();
  await secrets.text(secret);
  secrets.desire([]);
  expect(store.find(secret)).toBeUndefined();
});

test('what another key encrypted is fetched anew', async () => {
  const { open, requests } = await setUp();
  await open().secrets.text(secret);
  const { store, secrets } = open(Buffer.alloc(32, 2));
  expect(store.find(secret)).toBeUndefined();
  secrets.desire(nodes);
  await expect.poll(() => store.find(secret)).toBe(text);
  expect(requests).toHaveLength(2);
});

test('neither database nor write-ahead log tells a secret', async () => {
  const { open, directory } = await setUp();
  await open().secrets.text(secret);
  const files = ['state.db', 'state.db-wal'].map((name) => path.join(directory, name));
  const bytes = Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
  expect(bytes.includes('sec_one')).toBe(true);
  expect(bytes.includes('marker-of-the-site')).toBe(false);
});

test('a secret that is given out for another, or sealed to another key, is refused and not told', async () => {
  const { open, centre } = await setUp();
  const { secrets } = open();
  const strange = generateKeyPairSync('x25519').publicKey;
  const seals = [
    (content: object) => centreSeal({ ...content, secretId: 'sec_two' }),
    (content: object) => centreSeal({ ...content, version: 7 }),
    (content: object) => sealText(secretTyp, JSON.stringify(content), strange),
    (content: object) => sealText('railhead-user-data', JSON.stringify(content), strange),
  ];
  const centreSeal = centre.seal;
  for (const seal of seals) {
    centre.seal = seal;
    const error = await secrets.text(secret).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'DRIVER_ERROR', details: { reason: 'sealed' } });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('marker');
  }
});

test('a centre that gives nothing is said to, as is one that is away', async () => {
  const { open, centre } = await setUp({});
  const { secrets } = open();
  await expect(secrets.text(secret)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'secret-missing' },
  });
  centre.down = true;
  await expect(secrets.text(secret)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a secret that is no user name and password is refused, and not told', async () => {
  const { open } = await setUp({ sec_one: { ...secret, text: 'justapassword' } });
  const { secrets } = open();
  const error = await bmcCredentials({ nodeId: 'node_1', bmc, bmcSecret: secret }, secrets, {
    directory: '/none',
  }).catch((e) => e);
  expect(error).toMatchObject({ code: 'INVALID_CONFIG', details: { reason: 'form' } });
  expect(`${error.stack}`).not.toContain('justapassword');
});

test("the key at rest is systemd's, else the configured file's, else one of the state directory", async () => {
  const [stateDirectory, credentialsDirectory] = [await temporaryDirectory(), await temporaryDirectory()];
  const keyFile = path.join(stateDirectory, 'elsewhere.key');
  const [six, seven, eight] = [6, 7, 8].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  await writeFile(keyFile, `${seven.toString('base64')}\n`);
  await writeFile(`${keyFile}.old`, six.toString('base64'));
  await writeFile(path.join(credentialsDirectory, 'bcd.at-rest-key'), eight.toString('base64'));
  expect(await openAtRestKeys({ stateDirectory, keyFile, credentialsDirectory })).toEqual({
    keys: [eight],
    besideData: false,
  });
  const empty = await temporaryDirectory();
  const configured = await openAtRestKeys({ stateDirectory, keyFile, credentialsDirectory: empty });
  expect(configured).toEqual({ keys: [seven, six], besideData: false });
  const own = await openAtRestKeys({ stateDirectory });
  expect(own.besideData).toBe(true);
  expect(await openAtRestKeys({ stateDirectory })).toEqual(own);
  expect((await stat(path.join(stateDirectory, 'at-rest.key'))).mode & 0o777).toBe(0o600);
});

test.each([
  ['missing', undefined],
  ['form', 'c2hvcnQ='],
  ['form', 'not base64 at all, but of some length'],
])('a key file that is %s is refused: %j', async (reason, content) => {
  const stateDirectory = await temporaryDirectory();
  const keyFile = path.join(stateDirectory, 'key');
  if (content !== undefined) await writeFile(keyFile, content);
  await expect(openAtRestKeys({ stateDirectory, keyFile })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: keyFile, reason },
  });
});
