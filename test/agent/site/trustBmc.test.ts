import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { trustBmcRoutes } from '#agent/site/admin/trustBmc.ts';
import { driverOpener } from '#agent/site/drivers/open.ts';
import { createBmcs } from '#agent/site/operations/bmcs.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { loopbackCertificate, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { driverParts } from '../../fakes/driverParts.ts';

test('a BMC that shows another certificate is spoken with again once an operator has said so', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-trust-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await openState(directory);
  onTestFinished(() => state.close());
  const first = await startSimulatedBmc({ directory: '/nonexistent', tls: await loopbackCertificate() });
  const { address, record } = first;
  const { username, password } = record.bmc;
  const node: SiteNode = {
    nodeId: 'node-1',
    macs: [],
    bmc: { driver: 'redfish', address, credentialRef: 'secret://bmc/1' },
  };
  state.spec.replace({ nodeId: 's', role: 'site', generation: 1, site: { cacheImages: [], nodes: [node] } });
  const log = silentLog();
  const parts = {
    ...driverParts(),
    pins: state.bmcPins,
    credentialsOf: async () => ({ username, password }),
  };
  const bmcs = createBmcs({ open: driverOpener(parts), log });
  onTestFinished(() => bmcs.close());
  const power = () => bmcs.use(node, (bmc) => bmc.getPower());
  expect(await power()).toBe('off');
  state.sshKeys.keep('127.0.0.1:22', 'SHA256:old');
  state.sshKeys.keep('127.0.0.11:22', 'SHA256:of-another');
  await first.close();
  const port = Number(new URL(address).port);
  const second = await startSimulatedBmc({
    directory: '/nonexistent',
    tls: await loopbackCertificate(),
    record,
    port,
  });
  onTestFinished(() => second.close());
  await expect(power()).rejects.toMatchObject({ details: { reason: 'pin-mismatch' } });
  const [route] = trustBmcRoutes({ state, bmcs, log }, () => ({ uid: 0 }));
  const forgotten = await route?.answer(
    { params: { nodeId: 'node-1' } } as never,
    { uid: 0 } as never,
    {} as never,
  );
  expect(forgotten).toMatchObject({ sshHostKeys: ['SHA256:old'], named: {} });
  expect(await power()).toBe('off');
  expect(state.sshKeys.find('127.0.0.11:22')).toBe('SHA256:of-another');
});
