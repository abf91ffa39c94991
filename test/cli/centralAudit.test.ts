import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os, { userInfo } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCentre, onHost } from '#central/host.ts';
import { centralCommand } from '#cli/central.ts';
import { runCommand } from './commandLine.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-audit-'));
  await makeCentre(directory);
  const key = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(path.join(directory, 'signer.pub'), key);
});
afterAll(() => rm(directory, { recursive: true }));

const central = (...args: string[]) => runCommand(centralCommand(), ...args, '--directory', directory);
const records = async (...flags: string[]) =>
  (await central('audit', 'export', ...flags))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const idOf = async (field: string, ...args: string[]) =>
  (JSON.parse(await central(...args)) as Record<string, string>)[field] ?? '';
const newToken = ['token', 'create', '--name', 'me', '--grant', 'compute:*@compute-fleet:*'];
const digest = 'a'.repeat(64);

/** What each command of the host that changes something is called with. A new command belongs here, or below. */
const changes: Record<string, () => Promise<string[]>> = {
  init: async () => [],
  'token create': async () => newToken.slice(2),
  'token revoke': async () => [await idOf('tokenId', ...newToken)],
  'join-token create': async () => [
    '--role',
    'site',
    '--node-id',
    await idOf('siteId', 'site', 'create', '--name', 'joining'),
  ],
  'site create': async () => ['--name', 'lab'],
  'signers add': async () => ['--signer', 'one', '--key', path.join(directory, 'signer.pub')],
  'signers revoke': async () => ['--signer', 'one'],
  'withdraw digest': async () => [digest, '--why', 'broken'],
  'withdraw undo': async () => [digest],
  'keys rotate': async () => ['signing'],
  'keys retire': async () => ['signing', '--force'],
  revoke: async () => [await joinedSite(), '--why', 'stolen'],
};

/** A site in the list of those that have joined. */
async function joinedSite(): Promise<string> {
  const siteId = await idOf('siteId', 'site', 'create', '--name', 'joined');
  const times = { joined_at: new Date().toISOString(), renewed_at: null, revoked_at: null };
  const row = {
    identity: `urn:railhead:site:${siteId}`,
    role: 'site',
    agent_id: siteId,
    public_key: '',
  } as const;
  await onHost(directory, ({ store }) =>
    store
      .insertInto('agents')
      .values({
        ...row,
        ...times,
        sealing_key: null,
        counter: 0,
        renewal: null,
        trust_number: 0,
        revoked_why: null,
      })
      .execute(),
  );
  return siteId;
}

/** These only read; `run` is the centre itself. */
const reads = [
  'run',
  'pins',
  'trust',
  'token list',
  'site list',
  'signers list',
  'withdraw list',
  'agents list',
  'keys list',
  'backup',
  'audit export',
];

test('every command of the host either only reads, or is tried below', () => {
  expect(leaves(centralCommand()).sort()).toEqual([...Object.keys(changes), ...reads].sort());
});

test.each(Object.keys(changes))('central %s is on record', async (command) => {
  const args = (await changes[command]?.()) ?? [];
  const before = (await records()).length;
  await central(...command.split(' '), ...args);
  const added = (await records()).slice(before);
  expect(added).toMatchObject([
    { actor: `host:${userInfo().username}`, method: `railhead central ${command}`, outcome: 'ok' },
  ]);
});

test('what was refused is on record with its code, and no secret is', async () => {
  const { token } = JSON.parse(await central(...newToken)) as { token: string };
  await expect(central('token', 'revoke', 'tok_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await records()).at(-1)).toMatchObject({
    method: 'railhead central token revoke',
    subject: { tokenId: 'tok_none' },
    outcome: 'NOT_FOUND',
  });
  expect(await central('audit', 'export')).not.toContain(token);
});

test('the export begins and ends where it is told', async () => {
  const all = await records();
  const middle = String(all[3]?.at);
  const [from, to] = [await records('--since', middle), await records('--until', middle)];
  expect([...to, ...from]).toEqual(all);
  expect(to.every((record) => String(record.at) < middle)).toBe(true);
  expect(await records('--since', '2100-01-01')).toEqual([]);
  await expect(central('audit', 'export', '--since', 'yesterday')).rejects.toMatchObject({
    code: 'commander.invalidArgument',
  });
});

function leaves(command: Command, path: string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((sub) => leaves(sub, [...path, sub.name()]));
}
