import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { makeCentre } from '#central/host.ts';
import { keptDays, listenAddress } from '#cli/central/options.ts';
import { centralCommand } from '#cli/central.ts';
import { runCommand } from './commandLine.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-cli-'));
  await makeCentre(directory);
});
afterEach(() => rm(directory, { recursive: true }));

const central = (...args: string[]) => runCommand(centralCommand(), ...args, '--directory', directory);

test('the pins are the same every time, and those that openssl finds in the certificate', async () => {
  const pins = JSON.parse(await central('pins')) as Record<string, string>;
  expect(pins).toEqual({
    servingCaPin: expect.stringMatching(/^sha256\/[A-Za-z0-9+/]{43}=$/),
    joinSigningPin: expect.stringMatching(/^sha256\/[A-Za-z0-9+/]{43}=$/),
    joinEncryptionPin: expect.stringMatching(/^sha256\/[A-Za-z0-9+/]{43}=$/),
  });
  expect(JSON.parse(await central('pins'))).toEqual(pins);
  const { ca } = JSON.parse(await central('trust')) as { ca: string };
  const file = path.join(directory, 'ca.pem');
  await writeFile(file, ca);
  const digest = await run('sh', [
    '-c',
    `openssl x509 -in '${file}' -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64`,
  ]);
  expect(`sha256/${digest.trim()}`).toBe(pins.servingCaPin);
});

test.each(['pins', 'trust', 'token list', 'site list', 'signers list'])(
  'central %s on a directory without a centre is NOT_FOUND and makes nothing',
  async (command) => {
    const wrong = path.join(directory, 'typo');
    const mistyped = runCommand(centralCommand(), ...command.split(' '), '--directory', wrong);
    await expect(mistyped).rejects.toMatchObject({ code: 'NOT_FOUND', details: { path: 'directory' } });
    expect(await readdir(directory)).not.toContain('typo');
  },
);

test.each(['keys/at-rest.key', 'central.db'])(
  'a centre that lost its %s gets no new one by the way',
  async (file) => {
    await rm(path.join(directory, file));
    const missing = path.join(directory, file);
    await expect(central('pins')).rejects.toMatchObject({ code: 'NOT_FOUND', details: { missing } });
  },
);

test('init makes a centre once, and says what it made', async () => {
  const fresh = path.join(directory, 'fresh');
  const init = async () => JSON.parse(await runCommand(centralCommand(), 'init', '--directory', fresh));
  const first = await init();
  expect(first.made).toEqual(['authority.pem', 'signing.pem', 'join-encryption.pem', 'at-rest.key']);
  expect(await init()).toEqual({ directory: fresh, made: [], pins: first.pins });
});

test('keys are files of their owner alone', async () => {
  await central('pins');
  const folder = path.join(directory, 'keys');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(folder))
    expect((await stat(path.join(folder, name))).mode & 0o777).toBe(0o600);
});

test('trust.json holds the CA and the signing key, and no private key', async () => {
  const printed = await central('trust', '--central-url', 'https://10.79.0.2:8443');
  expect(JSON.parse(printed)).toEqual({
    ca: expect.stringContaining('BEGIN CERTIFICATE'),
    signingKeys: [{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String) }],
    trustNumber: 1,
    joinEncryptionKey: { kty: 'OKP', crv: 'X25519', x: expect.any(String) },
    centralUrl: 'https://10.79.0.2:8443',
  });
  expect(printed).not.toContain('PRIVATE');
});

test('tokens are shown once, listed without their secret, and revoked', async () => {
  const created = await central('token', 'create', '--name', 'me', '--grant', 'compute:*@compute-fleet:*');
  const { tokenId, token } = JSON.parse(created) as { tokenId: string; token: string };
  expect(token).toMatch(/^rht_/);
  const listed = await central('token', 'list');
  expect(JSON.parse(listed)).toMatchObject([
    { token_id: tokenId, name: 'me', revoked_at: null, grants: [{ action: 'compute:*' }] },
  ]);
  expect(listed).not.toContain(token.slice(4));
  await central('token', 'revoke', tokenId);
  await expect(central('token', 'revoke', tokenId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a token without a grant would be good for nothing: there is none', async () => {
  await expect(central('token', 'create', '--name', 'me')).rejects.toMatchObject({
    code: 'commander.missingMandatoryOptionValue',
  });
  expect(JSON.parse(await central('token', 'list'))).toEqual([]);
});

test('a join token is for a site in the books only', async () => {
  const { siteId } = JSON.parse(await central('site', 'create', '--name', 'lab')) as { siteId: string };
  const joinToken = ['join-token', 'create', '--role', 'site', '--node-id'];
  expect(JSON.parse(await central(...joinToken, siteId))).toMatchObject({
    token: expect.stringMatching(/^rhj_/),
  });
  await expect(central(...joinToken, 'site_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(JSON.parse(await central('site', 'list'))).toMatchObject([{ site_id: siteId, name: 'lab' }]);
});

test('signers are added once, listed and revoked; only public keys of the right kind are taken', async () => {
  const key = async (name: string, ...flags: string[]) => {
    const [secret, open] = [path.join(directory, `${name}.pem`), path.join(directory, `${name}.pub`)];
    await run('openssl', ['genpkey', ...flags, '-out', secret]);
    await run('openssl', ['pkey', '-in', secret, '-pubout', '-out', open]);
    return { secret, open };
  };
  const good = await key('good', '-algorithm', 'ed25519');
  const other = await key('other', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384');
  const add = (file: string) => central('signers', 'add', '--signer', 'platform-2026', '--key', file);
  await expect(add(good.secret)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { path: 'publicKey' },
  });
  await expect(add(other.open)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await add(good.open);
  await expect(add(good.open)).rejects.toMatchObject({ code: 'CONFLICT' });
  await central('signers', 'revoke', '--signer', 'platform-2026');
  expect(JSON.parse(await central('signers', 'list'))).toMatchObject([
    { tenant_id: 'root', signer_id: 'platform-2026', revoked_at: expect.any(String) },
  ]);
  await add(good.open);
});

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['[::1]:0', { host: '::1', port: 0 }],
  ['localhost:65535', { host: 'localhost', port: 65_535 }],
])('reads the address %s', (text, address) => {
  expect(listenAddress(text)).toEqual(address);
});

test.each(['8080', '::1:8080', 'host:', 'host:65536', ''])('refuses the address %j', (text) => {
  expect(() => listenAddress(text)).toThrow(/HOST:PORT/);
});

test.each([
  ['--log-level', 'bogus'],
  ['--advertise', 'centre.example.com'],
  ['--advertise', 'https://a b'],
  ['--api-listen', 'localhost'],
  ['--bcd-sha256', 'short'],
])('run refuses %s %s before anything is opened', async (flag, value) => {
  const fresh = path.join(directory, 'fresh');
  const run = runCommand(centralCommand(), 'run', '--directory', fresh, flag, value);
  await expect(run).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  expect(await readdir(directory)).not.toContain('fresh');
});

test.each([
  [['run'], ['127.0.0.1:8080', '0.0.0.0:8443', '"info"']],
  [['token', 'create'], ['720h']],
  [['join-token', 'create'], ['24h']],
])('the help of central %s shows its defaults as one writes them', (names, defaults) => {
  const help = names.reduce((at, name) => at.commands.find((sub) => sub.name() === name)!, centralCommand());
  for (const text of defaults) expect(help.helpInformation()).toContain(`default: ${text})`);
});

test.each([
  ['90d', 90],
  ['forever', Number.POSITIVE_INFINITY],
])('what is kept %s', (text, days) => {
  expect(keptDays(text)).toBe(days);
});

test.each(['90', '0d', '-1d', '1.5d', '24h', ''])('%o says not how long something is kept', (text) => {
  expect(() => keptDays(text)).toThrow('Write a number of days, e.g. 90d, or forever.');
});

test('the centre runs beside the commands of its host and ends at SIGTERM', async () => {
  const entry = path.resolve(import.meta.dirname, '../../cli/railhead.ts');
  const listeners = ['--api-listen', '127.0.0.1:0', '--agents-listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [entry, 'central', '--directory', directory, ...listeners], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { api } = JSON.parse(line) as { api: string };
  const { token } = JSON.parse(
    await central('token', 'create', '--name', 'me', '--grant', 'compute:*@compute-fleet:*'),
  ) as { token: string };
  const answer = await fetch(`${api}/api/compute/sites/list`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(await answer.json()).toEqual({ data: { items: [] } });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
