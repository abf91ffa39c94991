import { X509Certificate } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { onHost } from '#central/host.ts';
import { revokeImageSigner } from '#central/images/signers.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import type { Operation } from '#contract/operations.ts';
import { bootRamdisk, joinAs } from './fakeSite.ts';
import { deploy, follow, osDigest, ramdiskDigest, signedSuccess, workflow } from './line.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

test('what is destructive and what is booted is signed by the key of the well-known document', async () => {
  stage = await setStage();
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  const key = publicKeyFromJwk(stage.site.wellKnown.joinSigningKey);
  for (const operation of stage.site.taken.filter(({ target }) => target === 'ramdisk')) {
    const { jws = '', secrets: _secrets, ...plain } = operation;
    expect(await verifyDocument('railhead-operation', jws, key)).toEqual(plain);
  }
  const entry = String(stage.site.taken[0]?.input.entry);
  expect((await verifyDocument('railhead-boot-entry', entry, key)) as BootEntry).toMatchObject({
    siteId: stage.line.siteId,
    nodeId: 'node-1',
    macs: ['52:54:00:00:00:01'],
    ramdisk: { ref: 'ramdisk@1', digests: { x86_64: ramdiskDigest } },
  });
});

test('user data is gone from the books when the workflow has ended, and was never readable in them', async () => {
  let seen: { secrets: Buffer[]; operations: Buffer[] } | undefined;
  stage = await setStage(
    instead('deploy.image', async (operation, at) => {
      seen = await onHost(stage.line.directory, async ({ store }) => ({
        secrets: (await store.selectFrom('secrets').select('sealed').execute()).map((row) => row.sealed),
        operations: (await store.selectFrom('operations').select('sealed').execute()).map(
          (row) => row.sealed,
        ),
      }));
      await at.report(failedWith(operation, 'INVALID_STATE', 'enough'));
    }),
  );
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  expect(seen?.secrets).toHaveLength(1);
  for (const sealed of [...(seen?.secrets ?? []), ...(seen?.operations ?? [])])
    expect(sealed.toString('latin1')).not.toContain('rhj_');
  const after = await onHost(stage.line.directory, ({ store }) =>
    store.selectFrom('secrets').selectAll().execute(),
  );
  expect(after).toEqual([]);
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
        stage.machines.get('node-1') ?? {},
        { digest: osDigest },
      );
      return { ...signed, operationId: operation.operationId };
    },
  ],
])('a success that is %s is not believed', async (_, makeResult) => {
  stage = await setStage(
    instead('deploy.image', async (operation, at) => at.report({ results: [await makeResult(operation)] })),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'result-signature' } },
  });
});

test('a join whose proof does not hold is ignored', async () => {
  stage = await setStage(async (operation, at) => {
    if (operation.action !== 'power.setPower') return false;
    const forged = await bootRamdisk('node-1', '52:54:00:00:00:01').joinEvent({
      version: 'changed on the way',
    });
    await at.report({ events: [forged] });
    return false;
  });
  const workflowId = await deploy(stage.line, 'node-1');
  const events = await follow(stage.line.call, workflowId);
  const joins = events.filter(({ type, data }) => type === 'agent.joined' && data?.role === 'ramdisk');
  expect(joins).toHaveLength(1);
});

test('a revoked signer stops the deploy before any deploy.image is sent', async () => {
  stage = await setStage(async (operation) => {
    if (operation.action === 'power.setPower')
      await onHost(stage.line.directory, ({ store }) => revokeImageSigner(store, 'root', 'platform-2026'));
    return false;
  });
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'INVALID_STATE', details: { reason: 'signature', ref: 'demo-os@1' } },
  });
  expect(stage.site.taken.map(({ action }) => action)).not.toContain('deploy.image');
});

test("an OS with bcd joins by its own key and the workflow's token, and gets a node's certificate", async () => {
  stage = await setStage(
    instead('boot.kexec', async ({ nodeId }) => {
      const document = stage.machines.get(nodeId)?.document ?? '';
      const token = /token: (\S+)/.exec(document)?.[1] ?? '';
      const { certificate } = await joinAs(stage.line.agentsUrl, 'node', nodeId, token);
      expect(new X509Certificate(certificate).subjectAltName).toBe(`URI:urn:railhead:node:${nodeId}`);
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
});

test('a failed workflow leaves no join token that still opens', async () => {
  let token = '';
  stage = await setStage(
    instead('deploy.image', async (operation, at) => {
      const document = await stage.machines.get(operation.nodeId)?.ramdisk?.unseal(operation);
      token = /token: (\S+)/.exec(document ?? '')?.[1] ?? '';
      await at.report(failedWith(operation, 'INVALID_STATE', 'enough'));
    }),
  );
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  expect(await stage.site.client.post('/v1/rejoin', { token, nodeId: 'node-1' })).toMatchObject({
    status: 401,
    body: { error: { code: 'UNAUTHENTICATED', details: { reason: 'revoked' } } },
  });
});
