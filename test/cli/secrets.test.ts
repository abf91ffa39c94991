import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRingSealer } from '#base/sealing.ts';
import { createToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { openKeys } from '#central/join/keys.ts';
import { openSecret } from '#central/secrets.ts';
import { createSite } from '#central/sites.ts';
import { type Central, startCentral } from '#central/start.ts';
import { type CliEnvironment, withApi } from '#cli/client.ts';
import { metalCommand } from '#cli/metal.ts';
import { nodesCommand } from '#cli/nodes.ts';
import { secretsCommand } from '#cli/secrets.ts';
import { runCommand } from './commandLine.ts';

let central: Central;
let directory: string;
let environment: CliEnvironment;
let siteId: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-cli-'));
  const anywhere = { host: '127.0.0.1', port: 0 };
  central = await startCentral({ directory, api: anywhere, agents: anywhere, names: ['127.0.0.1'] });
  const token = await onHost(directory, async ({ store }) => {
    siteId = (await createSite(store, 'lab')).site_id;
    const grants = [{ action: 'compute:*', scopeKind: 'compute-fleet', scopeId: '*' }] as const;
    return (await createToken(store, { name: 'test', grants, validMs: 60_000 })).token;
  });
  environment = { server: central.apiUrl, token };
});
afterAll(async () => {
  await central.close();
  await rm(directory, { recursive: true });
});

async function file(text: string): Promise<string> {
  const name = path.join(directory, 'credentials.txt');
  await writeFile(name, text);
  return name;
}

/** What the centre keeps under a name. */
async function kept(ref: string): Promise<string> {
  const { atRest } = await openKeys(directory);
  const sealer = openRingSealer(() => [atRest].flat());
  return onHost(directory, async ({ store }) => {
    const row = await store
      .selectFrom('tenant_secrets')
      .select('secret_id')
      .where('ref', '=', ref)
      .executeTakeFirstOrThrow();
    return openSecret({ store, sealer }, row.secret_id);
  });
}

const secrets = (...args: string[]) => runCommand(secretsCommand(environment), ...args);

test('a secret is read from a file, listed without its text, and deleted', async () => {
  const from = await file('admin:from the file\n');
  const printed = await secrets('set', 'secret://bmc/one', '--tenant', 'root', '--from-file', from);
  expect(printed).toContain('version: 1');
  expect(await kept('secret://bmc/one')).toBe('admin:from the file');
  const listed = await secrets('list', '--tenant', 'root');
  expect(listed).toContain('secret://bmc/one');
  expect(printed + listed).not.toContain('from the file');
  await secrets('delete', 'secret://bmc/one', '--tenant', 'root');
  expect(await secrets('list', '--tenant', 'root')).not.toContain('secret://bmc/one');
});

test('enrolling takes the credentials of the BMC from a file, and says when they are none', async () => {
  const enroll = (mac: string, from: string) =>
    runCommand(
      metalCommand(environment),
      ...['enroll', '--tenant', 'root', '--site', siteId, '--mac', mac],
      ...[
        '--bmc-address',
        'https://10.0.0.1',
        '--bmc-credential',
        'secret://bmc/two',
        '--bmc-credentials-file',
        from,
      ],
    );
  await enroll('02:00:00:00:00:01', await file('admin:pass:word\n'));
  expect(await kept('secret://bmc/two')).toBe('admin:pass:word');
  const refused = await enroll('02:00:00:00:00:02', await file('only-a-word')).catch((error) => error);
  expect(refused).toMatchObject({ code: 'INVALID_INPUT', details: { path: '--bmc-credentials-file' } });
  expect(String(refused.stack)).not.toContain('only-a-word');
  const call = withApi(environment, { format: 'json' }, (api) =>
    api<{ items: object[] }>('nodes.list', { tenantId: 'root' }),
  );
  expect((await call).items).toHaveLength(1);
});

test('a factory password is changed by a flag of the enrolment, and later by a command of its own', async () => {
  const bmc = ['--bmc-address', 'https://10.0.0.3', '--bmc-credential', 'secret://bmc/two'];
  const place = ['--tenant', 'root', '--site', siteId, '--mac', '02:00:00:00:00:03', '--node-id', 'fresh'];
  await runCommand(metalCommand(environment), 'enroll', ...place, ...bmc, '--change-bmc-password');
  const ask = <Data>(method: `${string}.${string}`, input: object) =>
    withApi(environment, { format: 'json' }, (api) => api<Data>(method, { tenantId: 'root', ...input }));
  const node = await ask<{ workflowId: string; bmc: object }>('nodes.get', { nodeId: 'fresh' });
  expect(node.bmc).not.toHaveProperty('changePassword');
  const { workflowId } = node;
  const { steps } = await ask<{ steps: { use: string }[] }>('workflows.get', { workflowId });
  expect(steps.map(({ use }) => use)).toEqual(['bmc.rotatePassword', 'power.getPower', 'inspect.oob']);
  const rotate = () =>
    runCommand(nodesCommand(environment), 'rotate-bmc-password', 'fresh', '--tenant', 'root');
  await expect(rotate()).rejects.toMatchObject({ details: { reason: 'workflow-running' } });
  await ask('workflows.cancel', { workflowId });
  await expect
    .poll(async () => (await ask<{ state: string }>('workflows.get', { workflowId })).state)
    .toBe('cancelled');
  const waiting = rotate();
  const newest = await expect
    .poll(async () => (await ask<{ workflowId: string }>('nodes.get', { nodeId: 'fresh' })).workflowId)
    .not.toBe(workflowId)
    .then(() => ask<{ workflowId: string }>('nodes.get', { nodeId: 'fresh' }));
  await ask('workflows.cancel', { workflowId: newest.workflowId });
  await expect(waiting).rejects.toMatchObject({ code: 'INVALID_STATE', details: { reason: 'cancelled' } });
});

test('another BMC takes the place of one by the options of enrolment, all of it, and nothing said is no wish', async () => {
  const place = ['--tenant', 'root', '--site', siteId, '--mac', '02:00:00:00:00:04', '--node-id', 'moved'];
  await runCommand(metalCommand(environment), 'enroll', ...place, '--bmc-driver', 'manual');
  const setBmc = (...options: string[]) =>
    runCommand(metalCommand(environment), 'set-bmc', 'moved', '--tenant', 'root', ...options);
  const bmcNow = () =>
    withApi(environment, { format: 'json' }, async (api) => {
      const input = { tenantId: 'root', nodeId: 'moved' };
      return (await api<{ bmc?: object }>('nodes.get', input)).bmc;
    });
  const credentials = await file('admin:of the new one');
  const bmc = ['--bmc-address', 'https://10.0.0.4', '--bmc-credential', 'secret://bmc/moved'];
  await setBmc(...bmc, '--bmc-credentials-file', credentials, '--bmc-old-tls');
  const written = { address: 'https://10.0.0.4', credentialRef: 'secret://bmc/moved' };
  expect(await bmcNow()).toEqual({ driver: 'redfish', ...written, oldTls: true });
  expect(await kept('secret://bmc/moved')).toBe('admin:of the new one');
  for (const nothing of [[], [...bmc, '--none']])
    await expect(setBmc(...nothing)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await setBmc(...bmc);
  expect(await bmcNow()).toEqual({ driver: 'redfish', ...written });
  await setBmc('--none');
  expect(await bmcNow()).toBeUndefined();
});
