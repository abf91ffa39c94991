import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeployResult } from '#contract/operations.ts';
import type { RunnerParts } from '#ramdisk/operations/runner.ts';
import { openUserData } from '#ramdisk/seed/userData.ts';
import { follow, osDigest, workflow } from '../central/line.ts';
import { attempts } from './attempts.ts';
import { tryAttempt } from './outcome.ts';
import { type Scene, setScene } from './scene.ts';

/** A result with every field that there is, so that each is changed where it stands. */
const written: DeployResult = {
  digest: osDigest,
  device: '/dev/sda',
  artifactBytes: 1000,
  diskBytes: 2000,
  source: 'site',
  seconds: 1,
  bootEntry: 'Boot0001',
  efiLoader: { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' },
  notes: ['nothing'],
};

let begun = 0;
let scene: Scene;
beforeAll(async () => {
  const runStep: RunnerParts['runStep'] = async (operation, context) => {
    if (operation.action !== 'deploy.image' || operation.input.userData === undefined)
      throw new Error(`not what the profile says: ${operation.action}`);
    await openUserData(operation.input.userData, context);
    begun += 1;
    return { result: { ...written } };
  };
  scene = await setScene({ runStep });
}, 30_000);
afterAll(() => scene.close());

test('a site that changes nothing has its machine written, and nobody is alarmed', async () => {
  const { workflowId, nodeId, end } = await scene.deploy();
  await follow(scene.line.call, workflowId);
  expect(await workflow(scene.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
  const { data } = await scene.line.call('nodes.get', { tenantId: 'root', nodeId });
  expect(data).toMatchObject({ alarms: [], ramdisk: { trust: 'network' } });
  await end();
});

test.each(
  attempts(() => 'node-1', { withSecrets: true }).map((attempt) => [attempt.field, attempt] as const),
)(
  'a site that changes %s is caught',
  async (_, attempt) => {
    const before = begun;
    const { caught, found } = await tryAttempt(scene, attempt);
    expect({ caught, found }).toEqual({ caught: true, found });
    const reachesTheDisk = attempt.caught.by === 'results';
    expect(begun - before).toBe(reachesTheDisk ? 1 : 0);
  },
  20_000,
);
