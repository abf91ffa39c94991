import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { startCentral } from '#central/start.ts';
import { sitesCommand } from '#cli/sites.ts';
import { runCommand } from './commandLine.ts';

test('a command that asks too often waits as long as it is told, and goes on', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-rate-'));
  const anywhere = { host: '127.0.0.1', port: 0 };
  const rates = { token: { perSecond: 1, burst: 1 } };
  const central = await startCentral({
    directory,
    api: anywhere,
    agents: anywhere,
    names: ['127.0.0.1'],
    rates,
  });
  onTestFinished(async () => {
    await central.close();
    await rm(directory, { recursive: true });
  });
  const grants = [{ action: 'compute:*', scopeKind: 'compute-fleet', scopeId: '*' }] as const;
  const { token } = await onHost(directory, ({ store }) =>
    createToken(store, { name: 'test', grants, validMs: 60_000 }),
  );
  const list = () => runCommand(sitesCommand({ server: central.apiUrl, token }), 'list', '--format', 'json');
  expect([await list(), await list()]).toEqual(['[]\n', '[]\n']);
});
