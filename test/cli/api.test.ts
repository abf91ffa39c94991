import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '#central/api/tokens.ts';
import { onHost } from '#central/host.ts';
import { addImageSigner } from '#central/images/signers.ts';
import { type Central, startCentral } from '#central/start.ts';
import type { CliEnvironment } from '#cli/client.ts';
import { imagesCommand } from '#cli/images.ts';
import { metalCommand } from '#cli/metal.ts';
import { nodesCommand } from '#cli/nodes.ts';
import { poolsCommand } from '#cli/pools.ts';
import { profilesCommand } from '#cli/profiles.ts';
import { sitesCommand } from '#cli/sites.ts';
import { workflowsCommand } from '#cli/workflows.ts';
import { imageSigningInput } from '#contract/images.ts';
import { runCommand } from './commandLine.ts';

let central: Central;
let directory: string;
let environment: CliEnvironment;
const { publicKey, privateKey } = generateKeyPairSync('ed25519');

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-cli-'));
  const anywhere = { host: '127.0.0.1', port: 0 };
  central = await startCentral({ directory, api: anywhere, agents: anywhere, names: ['127.0.0.1'] });
  const token = await onHost(directory, async ({ store }) => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    await addImageSigner(store, { tenantId: 'root', signerId: 'platform-2026', publicKey: pem });
    const grants = [{ action: 'compute:*', scopeKind: 'compute-fleet', scopeId: '*' }] as const;
    return (await createToken(store, { name: 'test', grants, validMs: 60_000 })).token;
  });
  environment = { server: central.apiUrl, token };
});
afterAll(async () => {
  await central.close();
  await rm(directory, { recursive: true });
});

const image = {
  kind: 'os',
  ref: 'ubuntu-24.04-server@2026.09',
  format: 'raw',
  compression: 'zstd',
  sha256: 'a'.repeat(64),
} as const;
const signature = sign(null, imageSigningInput(image), privateKey).toString('base64');
const register = [
  ['register', '--tenant', 'root', '--ref', image.ref],
  ['--source', 'https://images.example.com/ubuntu-24.04-server-2026.09.raw.zst'],
  ['--disk-format', 'raw', '--compression', 'zstd', '--sha256', image.sha256, '--size', '3221225472'],
].flat();

test('images are registered, listed and promoted by the documented commands', async () => {
  const images = (...args: string[]) => runCommand(imagesCommand(environment), ...args);
  const signed = [...register, '--signer', 'platform-2026', '--signature', signature, '--format', 'json'];
  const created = JSON.parse(await images(...signed)) as { imageId: string };
  expect(created).toMatchObject({
    ref: image.ref,
    verified: true,
    sizeBytes: 3_221_225_472,
    visibility: 'private',
  });
  const listed = await images('list', '--tenant', 'root', '--kind', 'os');
  expect(listed.split('\n')).toEqual([
    expect.stringMatching(/^imageId +ref +kind/),
    expect.stringContaining(`${created.imageId}  ${image.ref}  os`),
    '',
  ]);
  expect(await images('promote', created.imageId, '--tenant', 'root')).toContain('visibility: public\n');
  expect(await images('get', created.imageId, '--tenant', 'other')).toContain(
    `imageId: ${created.imageId}\n`,
  );
  await expect(images(...signed)).rejects.toMatchObject({ code: 'CONFLICT', details: { path: 'ref' } });
});

test('--signature and --signer go together', async () => {
  const half = runCommand(imagesCommand(environment), ...register, '--signer', 'platform-2026');
  await expect(half).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { path: 'signature' } });
});

test('a command without a server or a token says what to set', async () => {
  const list = (given: CliEnvironment) => runCommand(imagesCommand(given), 'list', '--tenant', 'root');
  await expect(list({ token: 'x' })).rejects.toThrow(/RAILHEAD_SERVER/);
  await expect(list({ server: central.apiUrl })).rejects.toThrow(/RAILHEAD_TOKEN/);
});

test('a centre that does not answer is UNAVAILABLE', async () => {
  const list = runCommand(
    imagesCommand({ server: 'http://127.0.0.1:9', token: 'x' }),
    'list',
    '--tenant',
    'root',
  );
  await expect(list).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('from a site to a cancelled workflow by the commands alone', async () => {
  const json = async (command: ReturnType<typeof imagesCommand>, ...args: string[]) =>
    JSON.parse(await runCommand(command, ...args, '--format', 'json')) as Record<string, string>;
  const tenant = ['--tenant', 'root'];
  const { siteId = '' } = await json(sitesCommand(environment), 'create', '--name', 'lab');
  const pool = [...tenant, '--site', siteId, '--prewarm', image.ref, '--ramdisk', 'ramdisk@1'];
  const { poolId = '' } = await json(poolsCommand(environment), 'create', ...pool);
  const update = ['update', poolId, ...tenant, '--ramdisk-aarch64', 'ramdisk-arm@1'];
  expect(await json(poolsCommand(environment), ...update)).toMatchObject({
    policy: { prewarmImages: [image.ref], ramdisk: { x86_64: 'ramdisk@1', aarch64: 'ramdisk-arm@1' } },
    version: 2,
  });
  const late = runCommand(poolsCommand(environment), ...update, '--if-version', '1');
  await expect(late).rejects.toMatchObject({ code: 'CONFLICT', details: { reason: 'version' } });
  expect(await json(poolsCommand(environment), 'update', poolId, ...tenant, '--no-prewarm')).toMatchObject({
    policy: { prewarmImages: [] },
  });
  expect(await runCommand(poolsCommand(environment), 'list', ...tenant)).toMatch(
    new RegExp(`${poolId} .* 3 `),
  );
  const file = path.join(directory, 'profile.json');
  const steps = [{ use: 'power.setPower', with: { action: 'on' } }];
  await writeFile(
    file,
    JSON.stringify({ id: 'power-only', version: 1, target: 'metal', image: { ref: image.ref }, steps }),
  );
  await json(profilesCommand(environment), 'create', file, ...tenant, '--public');
  expect(await runCommand(profilesCommand(environment), 'list', '--tenant', 'other')).toMatch(
    /power-only +1 +root +public/,
  );
  const machine = [
    ...tenant,
    '--site',
    siteId,
    '--pool',
    poolId,
    '--node-id',
    'node-1',
    '--mac',
    '52:54:00:00:00:01',
  ];
  const bmc = ['--bmc-address', 'https://10.78.0.11', '--bmc-credential', 'secret://bmc/node-1'];
  const enrolled = await json(metalCommand(environment), 'enroll', ...machine, ...bmc);
  await runCommand(workflowsCommand(environment), 'cancel', enrolled.workflowId ?? '', ...tenant);
  const end = runCommand(
    workflowsCommand(environment),
    'events',
    enrolled.workflowId ?? '',
    ...tenant,
    '--follow',
  );
  await expect(end).rejects.toMatchObject({ code: 'INVALID_STATE' });
  const disk = ['--disk-serial', 'disk-1'];
  const { workflowId = '' } = await json(
    metalCommand(environment),
    'deploy',
    'node-1',
    ...tenant,
    '--profile',
    'power-only',
    ...disk,
  );
  expect(await runCommand(nodesCommand(environment), 'list', ...tenant)).toMatch(/node-1 .*deploying/);
  const workflows = (...args: string[]) => runCommand(workflowsCommand(environment), ...args, ...tenant);
  expect(await workflows('get', workflowId)).toMatch(/power\.setPower +main +(pending|running)/);
  await workflows('cancel', workflowId);
  await expect(workflows('events', workflowId, '--follow')).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'cancelled' },
  });
  expect(await workflows('events', workflowId)).toMatch(/workflow\.created.*workflow\.cancelled/s);
  expect(await workflows('list', '--node', 'node-1')).toContain('cancelled');
});
