import { afterEach, describe, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import type { ImageVerifier } from '#central/images/verifier.ts';
import { withdrawDigest } from '#central/images/withdrawal.ts';
import type { Operation } from '#contract/operations.ts';
import { mustRegister, osImage } from '../centre.ts';
import { deploy, follow, osDigest, workflow } from '../line.ts';
import { sampleProfile } from '../sampleProfile.ts';
import { failedWith, type Stage, setStage } from '../stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const withdraw = (digest = osDigest) =>
  onHost(stage.line.directory, ({ store }) => withdrawDigest(store, digest, 'CVE-2026-1'));
const withdrawnError = { code: 'INVALID_STATE', details: { reason: 'withdrawn', why: 'CVE-2026-1' } };
const node = async () => (await stage.line.call('nodes.get', { tenantId: 'root', nodeId: 'node-1' })).data;
const taken = () => stage.site.taken.map(({ action }) => action);

/** Follows a deploy to its end, which must be that it was stopped. */
async function stopped(workflowId: string): Promise<void> {
  await follow(stage.line.call, workflowId);
  const ended = await workflow(stage.line.call, workflowId);
  expect(ended).toMatchObject({ state: 'failed', error: withdrawnError });
  expect(await node()).toMatchObject({ state: 'failed', error: withdrawnError });
}

/** A verifier of the host's own, which takes as long as `meanwhile`. */
function slowVerifier(meanwhile: () => Promise<unknown>): { deployVerifier: ImageVerifier } {
  return {
    deployVerifier: async ({ image }) => {
      if (image.kind === 'os') await meanwhile();
      return {};
    },
  };
}

/** Withdraws the image when the site is handed an operation that `when` picks, before the site does it. */
const withdrawAt = (when: (operation: Operation) => boolean) =>
  setStage(async (operation) => {
    if (when(operation)) await withdraw();
    return false;
  });

const setsDisk = ({ action, input }: Operation) =>
  action === 'management.setBootDevice' && input.device === 'disk';

describe('a withdrawal stops a deploy', () => {
  test('while its image is verified: the write is never asked for', async () => {
    stage = await setStage(undefined, sampleProfile, { images: slowVerifier(() => withdraw()) });
    await stopped(await deploy(stage.line, 'node-1'));
    expect(taken()).not.toContain('deploy.image');
    expect(await node()).toMatchObject({ images: [] });
  });

  test('before its site has taken the write: nothing is waited for', async () => {
    const options = { images: slowVerifier(() => stage.site.stop()) };
    stage = await setStage(undefined, { ...sampleProfile, cleanup: undefined }, options);
    const workflowId = await deploy(stage.line, 'node-1');
    const queued = () =>
      onHost(stage.line.directory, ({ store }) =>
        store.selectFrom('operations').select('taken_at').where('action', '=', 'deploy.image').execute(),
      );
    await expect.poll(queued, { timeout: 5000 }).toEqual([{ taken_at: null }]);
    await withdraw();
    await stopped(workflowId);
  });

  test('after the write: the machine is not started from its disk', async () => {
    stage = await withdrawAt(setsDisk);
    await stopped(await deploy(stage.line, 'node-1'));
    expect(taken()).not.toContain('boot.kexec');
    expect(taken()).toContain('boot.cleanUp');
    expect(await node()).toMatchObject({ images: [{ digest: osDigest, state: 'deployed' }] });
  });

  test('while the machine starts: the deploy does not succeed', async () => {
    stage = await withdrawAt(({ action }) => action === 'boot.kexec');
    await stopped(await deploy(stage.line, 'node-1'));
  });

  test('whatever its steps make of failures', async () => {
    const steps = sampleProfile.steps.map((step) => ({ ...step, onFailure: 'continue' }));
    stage = await setStage(
      async (operation) => {
        if (setsDisk(operation)) await withdraw();
        return false;
      },
      { ...sampleProfile, steps },
    );
    await stopped(await deploy(stage.line, 'node-1'));
    expect(taken()).not.toContain('boot.kexec');
  });

  test('while its cleanup runs, which is not cut short', async () => {
    stage = await withdrawAt(({ action }) => action === 'boot.cleanUp');
    await stopped(await deploy(stage.line, 'node-1'));
    expect(stage.site.cancelled).toEqual([]);
  });
});

test('a withdrawn ISO is asked back from the machines that mount it, which are listed', async () => {
  const isoDigest = '1'.repeat(64);
  const asked = Promise.withResolvers<Operation>();
  stage = await setStage(
    async (operation) => {
      if (operation.action !== 'media.insert') return false;
      asked.resolve(operation);
      return true;
    },
    { ...sampleProfile, steps: [{ use: 'media.insert', with: { image: 'installer@1' } }] },
  );
  const { call, signer } = stage.line;
  const iso = { ref: 'installer@1', format: 'iso', compression: 'none', sha256: isoDigest } as const;
  await mustRegister(call, signer.signed(osImage(iso)));
  const workflowId = await deploy(stage.line, 'node-1');
  const operation = await asked.promise;
  const { nodes } = await withdraw(isoDigest);
  expect(nodes).toMatchObject([{ nodeId: 'node-1', ref: 'installer@1', state: 'mounted' }]);
  await expect.poll(() => stage.site.cancelled).toContain(operation.operationId);
  await stage.site.report(failedWith(operation, 'INVALID_STATE', 'cancelled'));
  await stopped(workflowId);
});
