import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { run } from '#base/command.ts';
import { bcdJoinArgv, bcdNodeArgv } from '#central/userData/argv.ts';
import { bcdHostCloudConfig } from '#central/userData/bcdHost.ts';
import { bcdHostIgnition } from '#central/userData/bcdHostIgnition.ts';
import { type CloudInit, openCloudInit } from './cloudInit.ts';
import { ignitionValidator } from './ignitionValidate.ts';
import { sampleVariables } from './samples.ts';

/** Foreign judges of the shipped documents. One that cannot be had is said, and its tests skipped. */
let folder: string;
let cloudInit: CloudInit | Error;
let validator: string | Error;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-user-data-'));
  [cloudInit, validator] = await Promise.all([orWhyNot(openCloudInit()), orWhyNot(ignitionValidator())]);
}, 600_000);
afterAll(() => rm(folder, { recursive: true }));

function orWhyNot<Value>(wanted: Promise<Value>): Promise<Value | Error> {
  return wanted.catch((error: Error) => error);
}

function had<Value>(context: TestContext, name: string, value: Value | Error): Value {
  if (!(value instanceof Error)) return value;
  process.stderr.write(`NOT CHECKED by ${name}, which cannot be had here: ${value.message}\n`);
  return context.skip(`${name} cannot be had here`);
}

async function inFile(document: string): Promise<string> {
  const file = path.join(await mkdtemp(path.join(folder, 'document-')), 'user-data');
  await writeFile(file, document);
  return file;
}

/** Ids that YAML would read as numbers, truth values, dates or nothing, were they not quoted. */
const oddIds = ['123', '1e3', '0x1f', '1_000', 'null', 'yes', 'n', '2026-01-01', '0o17'];

test('cloud-init finds the shipped cloud-init document valid', async (context) => {
  const judge = had(context, 'cloud-init', cloudInit);
  await judge.checkSchema(await inFile(bcdHostCloudConfig(sampleVariables)));
  const broken = bcdHostCloudConfig(sampleVariables).replace('runcmd:', 'runcmd: 7\nx:');
  await expect(judge.checkSchema(await inFile(broken))).rejects.toThrow('runcmd');
});

test('cloud-init reads the very argv and command that were meant', async (context) => {
  const judge = had(context, 'cloud-init', cloudInit);
  const { bcdUrl, bcdSha256 } = sampleVariables;
  const [parsed] = await judge.parse([await inFile(bcdHostCloudConfig(sampleVariables))]);
  const bcd = '/usr/local/bin/bcd';
  const download = `curl -fsSL '${bcdUrl}' -o ${bcd} && echo '${bcdSha256}  ${bcd}' | sha256sum -c - && chmod 0755 ${bcd}`;
  expect(parsed).toMatchObject({
    hostname: sampleVariables.hostname,
    write_files: [
      { path: '/etc/bcd/join-token', permissions: '0600', content: sampleVariables.joinToken },
      { path: '/etc/systemd/system/bcd.service', permissions: '0644' },
    ],
    runcmd: [
      ['sh', '-c', download],
      bcdJoinArgv(sampleVariables),
      ['systemctl', 'enable', '--now', 'bcd.service'],
    ],
  });
});

test('an id that YAML would read as something else than a text stays a text', async (context) => {
  const judge = had(context, 'cloud-init', cloudInit);
  const documents = oddIds.map((id) => bcdHostCloudConfig({ ...sampleVariables, nodeId: id, hostname: id }));
  const files = await Promise.all(documents.map(inFile));
  const parsed = (await judge.parse(files)) as { hostname: string; runcmd: string[][] }[];
  expect(parsed.map(({ hostname }) => hostname)).toEqual(oddIds);
  expect(parsed.map(({ runcmd }) => runcmd[1]?.[7])).toEqual(oddIds);
  await judge.checkSchema(files[0] ?? '');
});

test('ignition-validate finds the shipped Ignition document valid', async (context) => {
  const judge = had(context, 'ignition-validate', validator);
  await run(judge, [await inFile(bcdHostIgnition(sampleVariables))]);
  const broken = bcdHostIgnition(sampleVariables).replace('"/etc/hostname"', '"etc/hostname"');
  await expect(run(judge, [await inFile(broken)])).rejects.toMatchObject({ status: 1 });
});

test('values cannot change the structure of the Ignition document', async (context) => {
  const odd = { ...sampleVariables, joinToken: '","mode":511,"x":"%41&#', hostname: 'a"b{}%$' };
  const shape = (document: string) =>
    JSON.stringify(JSON.parse(document), (_key, value) => (typeof value === 'string' ? '' : value));
  const document = bcdHostIgnition(odd);
  expect(shape(document)).toBe(shape(bcdHostIgnition(sampleVariables)));
  const [, token] = JSON.parse(document).storage.files;
  expect(decodeURIComponent(token.contents.source.replace('data:,', ''))).toBe(odd.joinToken);
  await run(had(context, 'ignition-validate', validator), [await inFile(document)]);
});

test('the Ignition document has a oneshot that runs only while the token file exists, and bcd.service after it', () => {
  const document = JSON.parse(bcdHostIgnition(sampleVariables));
  expect(document.ignition).toEqual({ version: '3.4.0' });
  expect(document.storage.files[1]).toMatchObject({ path: '/etc/bcd/join-token', mode: 0o600 });
  const [join, node] = document.systemd.units;
  expect([join.name, node.name]).toEqual(['bcd-join.service', 'bcd.service']);
  expect(join.contents).toContain('\nType=oneshot\n');
  expect(join.contents).toContain('\nConditionPathExists=/etc/bcd/join-token\n');
  expect(join.contents).toContain(`\nExecStart=${bcdJoinArgv(sampleVariables).join(' ')}\n`);
  expect(node.contents).toContain(`\nExecStart=${bcdNodeArgv().join(' ')}\n`);
  expect(node.contents).toContain('\nAfter=network-online.target bcd-join.service\n');
});

test('in the Ignition unit, the signs of a presigned URL reach the shell as they are', () => {
  const [join] = JSON.parse(bcdHostIgnition(sampleVariables)).systemd.units;
  // systemd halves what is doubled: `%%` and `$$`.
  const shellLine = /ExecStartPre=\/bin\/sh -c "(.*)"/.exec(join.contents)?.[1] ?? '';
  const seen = shellLine.replaceAll('%%', '%').replaceAll('$$', () => '$');
  expect(seen).toContain(`curl -fsSL '${sampleVariables.bcdUrl}'`);
  expect(shellLine.replaceAll(/%%|\$\$/g, '')).not.toMatch(/[%$]/);
});
