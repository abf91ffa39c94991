import { afterEach, expect, test } from 'vitest';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { onHost } from '#central/host.ts';
import { revokeImageSigner } from '#central/images/signers.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import type { Operation } from '#contract/operations.ts';
import { startTestCentre, type TestCentre } from './centre.ts';
import type { FakeSite } from './fakeSite.ts';
import {
  bootMachine,
  deploy,
  enroll,
  type FakeMachine,
  follow,
  joinLine,
  type Line,
  osDigest,
  playLine,
  prepareLine,
  ramdiskDigest,
  signedSuccess,
  startSite,
  templatesFolder,
  workflow,
} from './line.ts';
import { sampleProfile } from './sampleProfile.ts';

let centre: TestCentre;
let site: FakeSite | undefined;
let machines: Map<string, FakeMachine>;

type Before = Parameters<typeof playLine>[2];

async function start(before?: Before, profile: object = sampleProfile): Promise<Line> {
  centre = await startTestCentre({ userData: { templates: await templatesFolder() } });
  const { call, central, directory } = centre;
  const line = await prepareLine({ call, agentsUrl: central.agentsUrl, directory }, profile);
  machines = new Map();
  site = await startSite(line, await joinLine(line), playLine(central.agentsUrl, machines, before));
  await enroll(line, 'node-1', '52:54:00:00:00:01');
  return line;
}

afterEach(async () => {
  await site?.stop();
  site = undefined;
  await centre.close();
});

/** Takes `action` over: the machine's part is played by `act`. */
function instead(
  action: string,
  act: (operation: Operation, site: FakeSite) => Promise<void> | void,
): Before {
  return async (operation, at) => {
    if (operation.action !== action) return false;
    await act(operation, at);
    return true;
  };
}

const failedWith = (operation: Operation, code: 'DRIVER_ERROR' | 'INVALID_STATE', reason: string) => ({
  results: [
    {
      operationId: operation.operationId,
      outcome: 'failed' as const,
      error: { code, message: reason, details: { reason } },
      finishedAt: new Date().toISOString(),
    },
  ],
});

test('the sample profile runs from user data to the joined OS', async () => {
  const line = await start();
  const workflowId = await deploy(line, 'node-1', { disk: { serial: 'disk-1' } });
  const events = await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'succeeded',
    steps: [...sampleProfile.steps, ...sampleProfile.cleanup].map(({ use }) => ({
      use,
      state: 'succeeded',
      attempt: 1,
    })),
  });
  expect(site?.taken.map(({ action }) => action)).toEqual([
    'boot.prepareRamdisk',
    'management.setBootDevice',
    'power.setPower',
    'deploy.image',
    'management.setBootDevice',
    'boot.kexec',
    'boot.cleanUp',
  ]);
  expect(machines.get('node-1')?.deployed).toMatchObject({
    ref: 'demo-os@1',
    digest: osDigest,
    sizeBytes: 1000,
    format: 'raw',
    compression: 'zstd',
    sources: ['https://images.example.com/demo-os.raw.zst'],
    disk: { serial: 'disk-1' },
    userData: { kind: 'cloud-init', document: expect.stringMatching(/^node: node-1\ntoken: rhj_/) },
  });
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['workflow.created', 'agent.joined', 'operation.progress', 'workflow.succeeded']),
  );
  const { data: node } = await line.call('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
  expect(node).toMatchObject({ state: 'active', role: 'host', workflowId });
});

test('what is destructive and what is booted is signed by the key of the well-known document', async () => {
  const line = await start();
  await follow(line.call, await deploy(line, 'node-1'));
  const key = publicKeyFromJwk(site?.wellKnown.joinSigningKey ?? {});
  for (const operation of site?.taken.filter(({ target }) => target === 'ramdisk') ?? []) {
    const { jws = '', ...plain } = operation;
    expect(await verifyDocument('railhead-operation', jws, key)).toEqual(plain);
  }
  const entry = String(site?.taken[0]?.input.entry);
  expect((await verifyDocument('railhead-boot-entry', entry, key)) as BootEntry).toMatchObject({
    siteId: line.siteId,
    nodeId: 'node-1',
    macs: ['52:54:00:00:00:01'],
    ramdisk: { ref: 'ramdisk@1', digests: { x86_64: ramdiskDigest } },
  });
});

test('user data is gone from the books when the workflow has ended, and was never readable in them', async () => {
  let seen: { secrets: Buffer[]; operations: Buffer[] } | undefined;
  const line = await start(
    instead('deploy.image', async (operation, at) => {
      seen = await onHost(centre.directory, async ({ store }) => ({
        secrets: (await store.selectFrom('secrets').select('sealed').execute()).map((row) => row.sealed),
        operations: (await store.selectFrom('operations').select('sealed').execute()).map(
          (row) => row.sealed,
        ),
      }));
      await at.report(failedWith(operation, 'INVALID_STATE', 'enough'));
    }),
  );
  await follow(line.call, await deploy(line, 'node-1'));
  expect(seen?.secrets).toHaveLength(1);
  for (const sealed of [...(seen?.secrets ?? []), ...(seen?.operations ?? [])])
    expect(sealed.toString('latin1')).not.toContain('rhj_');
  const after = await onHost(centre.directory, ({ store }) =>
    store.selectFrom('secrets').selectAll().execute(),
  );
  expect(after).toEqual([]);
});

test('a ramdisk that wrote another digest fails the deploy, and the cleanup runs', async () => {
  const found = 'e'.repeat(64);
  const line = await start(
    instead('deploy.image', async (operation, at) => {
      const machine = machines.get('node-1') ?? {};
      await at.report({ results: [await signedSuccess(operation, machine, { digest: found })] });
    }),
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  const after = await workflow(line.call, workflowId);
  expect(after).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'digest-mismatch', expected: osDigest, found } },
  });
  expect(after.steps.map(({ state }) => state)).toEqual([
    ...Array(5).fill('succeeded'),
    'failed',
    'skipped',
    'skipped',
    'succeeded',
  ]);
  const { data: node } = await line.call('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
  expect(node).toMatchObject({ state: 'failed' });
});

test("a failure's code and facts come from the machine to the workflow", async () => {
  const line = await start(
    instead('deploy.image', (operation, at) => at.report(failedWith(operation, 'DRIVER_ERROR', 'truncated'))),
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'truncated' } },
  });
});

test.each([
  [
    'unsigned',
    async (operation: Operation) => ({
      operationId: operation.operationId,
      outcome: 'succeeded' as const,
      result: { digest: osDigest },
      finishedAt: new Date().toISOString(),
    }),
  ],
  [
    'signed by another machine',
    async (operation: Operation) => {
      const { bootRamdisk } = await import('./fakeSite.ts');
      return signedSuccess(
        operation,
        { ramdisk: bootRamdisk('node-1', '52:54:00:00:00:01') },
        { digest: osDigest },
      );
    },
  ],
  [
    'signed for another operation',
    async (operation: Operation) => {
      const signed = await signedSuccess(
        { ...operation, operationId: 'op_other' },
        machines.get('node-1') ?? {},
        { digest: osDigest },
      );
      return { ...signed, operationId: operation.operationId };
    },
  ],
])('a success that is %s is not believed', async (_, makeResult) => {
  const line = await start(
    instead('deploy.image', async (operation, at) => at.report({ results: [await makeResult(operation)] })),
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'result-signature' } },
  });
});

test('a machine that boots again in the middle of a write fails that try and a retry succeeds', async () => {
  let tries = 0;
  const line = await start(
    async (operation, at) => {
      if (operation.action !== 'deploy.image' || ++tries > 1) return false;
      const machine = machines.get('node-1') ?? {};
      await bootMachine('node-1', at, machine);
      return true;
    },
    {
      ...sampleProfile,
      steps: sampleProfile.steps.map((step) =>
        step.use === 'deploy.deploy' ? { ...step, retries: 1 } : step,
      ),
    },
  );
  const workflowId = await deploy(line, 'node-1');
  const events = await follow(line.call, workflowId);
  const retrying = events.find(({ type }) => type === 'step.retrying');
  expect(retrying?.data).toMatchObject({
    error: { code: 'DRIVER_ERROR', details: { reason: 'ramdisk-lost' } },
  });
  const after = await workflow(line.call, workflowId);
  expect(after).toMatchObject({ state: 'succeeded' });
  expect(after.steps.find(({ use }) => use === 'deploy.deploy')).toMatchObject({ attempt: 2 });
});

test('a join whose proof does not hold is ignored', async () => {
  const line = await start(async (operation, at) => {
    if (operation.action !== 'power.setPower') return false;
    const { bootRamdisk } = await import('./fakeSite.ts');
    const forged = await bootRamdisk('node-1', '52:54:00:00:00:01').joinEvent({
      version: 'changed on the way',
    });
    await at.report({ events: [forged] });
    return false;
  });
  const workflowId = await deploy(line, 'node-1');
  const events = await follow(line.call, workflowId);
  const joins = events.filter(({ type, data }) => type === 'agent.joined' && data?.role === 'ramdisk');
  expect(joins).toHaveLength(1);
});

test('a revoked signer stops the deploy before any deploy.image is sent', async () => {
  const line = await start(async (operation) => {
    if (operation.action === 'power.setPower')
      await onHost(centre.directory, ({ store }) => revokeImageSigner(store, 'root', 'platform-2026'));
    return false;
  });
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'signature', ref: 'demo-os@1' } },
  });
  expect(site?.taken.map(({ action }) => action)).not.toContain('deploy.image');
});

test('a second workflow on a busy node is refused', async () => {
  const line = await start(instead('deploy.image', () => {}));
  const workflowId = await deploy(line, 'node-1');
  const input = { tenantId: 'root', nodeId: 'node-1', profileId: sampleProfile.id };
  expect(await line.call('metal.deploy', input)).toMatchObject({
    status: 409,
    error: { code: 'CONFLICT', details: { reason: 'workflow-running' } },
  });
  await line.call('workflows.cancel', { tenantId: 'root', workflowId });
  await follow(line.call, workflowId);
});

test('two machines are deployed at once', async () => {
  const line = await start();
  await enroll(line, 'node-2', '52:54:00:00:00:02');
  const workflowIds = [await deploy(line, 'node-1'), await deploy(line, 'node-2')];
  await Promise.all(workflowIds.map((workflowId) => follow(line.call, workflowId)));
  for (const workflowId of workflowIds)
    expect(await workflow(line.call, workflowId)).toMatchObject({ state: 'succeeded' });
});

test('cancel reaches the running operation, skips the rest and still cleans up', async () => {
  let running: Operation | undefined;
  const line = await start(
    instead('deploy.image', (operation) => {
      running = operation;
    }),
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(
    line.call,
    workflowId,
    ({ type, text }) => type === 'step.started' && text === 'deploy.deploy',
  );
  await expect.poll(() => running).toBeDefined();
  expect(await line.call('workflows.cancel', { tenantId: 'root', workflowId })).toMatchObject({
    status: 200,
  });
  await expect.poll(() => site?.cancelled).toEqual([running?.operationId]);
  await site?.report(failedWith(running as Operation, 'INVALID_STATE', 'cancelled'));
  await follow(line.call, workflowId);
  const after = await workflow(line.call, workflowId);
  expect(after.state).toBe('cancelled');
  expect(after.steps.slice(5).map(({ state }) => state)).toEqual([
    'cancelled',
    'skipped',
    'skipped',
    'succeeded',
  ]);
  expect(await line.call('workflows.cancel', { tenantId: 'root', workflowId })).toMatchObject({
    status: 409,
    error: { code: 'INVALID_STATE', details: { reason: 'cancelled' } },
  });
});

test('an operation that the site never ends runs into its timeout', async () => {
  const steps = [{ use: 'power.setPower', with: { action: 'on' }, timeout: '200ms' }];
  const line = await start(
    instead('power.setPower', () => {}),
    { ...sampleProfile, steps },
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  expect(await workflow(line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'UNAVAILABLE', details: { reason: 'timeout', timeoutMs: 200 } },
  });
});

test('a step that may continue on failure does not end the workflow', async () => {
  const steps = [
    { use: 'management.setBootDevice', with: { device: 'pxe' }, onFailure: 'continue' },
    { use: 'power.setPower', with: { action: 'on' } },
  ];
  const line = await start(
    instead('management.setBootDevice', (operation, at) =>
      at.report(failedWith(operation, 'DRIVER_ERROR', 'no')),
    ),
    { ...sampleProfile, steps },
  );
  const workflowId = await deploy(line, 'node-1');
  await follow(line.call, workflowId);
  const after = await workflow(line.call, workflowId);
  expect(after.state).toBe('succeeded');
  expect(after.steps.map(({ state }) => state)).toEqual(['failed', 'succeeded', 'succeeded']);
});
