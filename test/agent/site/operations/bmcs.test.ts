import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BoundNode } from '#agent/site/drivers/boundNode.ts';
import { driverOpener } from '#agent/site/drivers/open.ts';
import { createBmcs } from '#agent/site/operations/bmcs.ts';
import { readCredentials } from '#agent/site/secrets/files.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { selfSignedIdentity } from '../../../fakes/certificates.ts';
import { driverParts } from '../../../fakes/driverParts.ts';
import { serveBmc } from '../../../fakes/fakeBmc.ts';
import { configureSite, startSiteBmc } from '../bench/loopbackSite.ts';

async function setUp(idleMs?: number) {
  const site = await configureSite();
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-bmcs-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await openState(directory);
  onTestFinished(() => state.close());
  const bmc = await startSiteBmc(site);
  const places = { directory: path.join(site.directory, 'secrets') };
  const credentialsOf = ({ bmc }: BoundNode) => readCredentials(bmc.credentialRef ?? '', places);
  const open = () => {
    const bmcs = createBmcs({
      open: driverOpener({ ...driverParts(), pins: state.bmcPins, credentialsOf }),
      log: silentLog(),
      ...(idleMs && { idleMs }),
    });
    onTestFinished(() => bmcs.close());
    return bmcs;
  };
  const node: SiteNode = { nodeId: 'node_1', macs: [], bmc: bmc.binding };
  return { ...bmc, node, open, pins: state.bmcPins };
}

test('callers share one session, which ends when nobody has asked for a while', async () => {
  const { fake, node, open } = await setUp(50);
  const ended = new Promise<void>((resolve) => {
    fake.faults.push(({ method }) => {
      if (method === 'DELETE') resolve();
      return undefined;
    });
  });
  const bmcs = open();
  const power = await Promise.all([1, 2, 3].map(() => bmcs.use(node, (bmc) => bmc.getPower())));
  expect(power).toEqual(['off', 'off', 'off']);
  expect(fake.mostSessions).toBe(1);
  await ended;
  expect(await bmcs.use(node, (bmc) => bmc.getPower())).toBe('off');
});

test('the first certificate of a BMC is pinned, over restarts too', async () => {
  const { fake, running, node, open, pins } = await setUp();
  const first = open();
  await first.use(node, (bmc) => bmc.getPower());
  await first.close();
  expect(pins.find(running.address)).toBe(running.certificateSha256);
  await running.close();
  const impostor = await serveBmc(
    fake,
    await selfSignedIdentity(),
    {},
    Number(new URL(running.address).port),
  );
  onTestFinished(() => impostor.close());
  await expect(open().use(node, (bmc) => bmc.getPower())).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'pin-mismatch' },
  });
});

test('a node whose BMC is at another address is driven there from then on, by the certificate that it shows', async () => {
  const { fake, node, open, pins } = await setUp();
  const moved = await setUp();
  const bmcs = open();
  expect(await bmcs.use(node, (bmc) => bmc.getPower())).toBe('off');
  const asked = fake.requests.length;
  expect(await bmcs.use({ ...node, ...moved.node }, (bmc) => bmc.getPower())).toBe('off');
  expect(moved.fake.requests.length).toBeGreaterThan(0);
  expect(fake.requests.length).toBe(asked);
  expect(pins.find(moved.running.address)).toBe(moved.running.certificateSha256);
});

test('a node without a BMC says so', async () => {
  const { open } = await setUp();
  await expect(open().use({ nodeId: 'node_2', macs: [] }, (bmc) => bmc.getPower())).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'no-bmc', nodeId: 'node_2' },
  });
});

test('one BMC that two nodes name differently has one session, and one caller at a time', async () => {
  const { fake, running, node, open } = await setUp();
  const { port } = new URL(running.address);
  const named = (nodeId: string, host: string) =>
    ({ ...node, nodeId, bmc: { ...node.bmc, address: `https://${host}:${port}` } }) as SiteNode;
  const bmcs = open();
  let inside = 0;
  let most = 0;
  const ask = (one: SiteNode) =>
    bmcs.use(one, async (bmc) => {
      most = Math.max(most, ++inside);
      await bmc.getPower().finally(() => inside--);
    });
  await Promise.all([named('node_1', 'localhost'), named('node_2', 'LOCALHOST')].map(ask));
  expect([most, fake.mostSessions]).toEqual([1, 1]);
  await bmcs.close();
  expect(fake.sessions.size).toBe(0);
});

test('once they are closed no session is opened that nobody would end', async () => {
  const { fake, node, open } = await setUp();
  const bmcs = open();
  await bmcs.close();
  await expect(bmcs.use(node, (bmc) => bmc.getPower())).rejects.toMatchObject({
    details: { reason: 'stopping' },
  });
  expect(fake.requests).toEqual([]);
});

test('what only reads waits for nobody where the session is open, and opens none of its own', async () => {
  const { fake, node, open } = await setUp();
  const bmcs = open();
  expect(await bmcs.read(node, (bmc) => bmc.getPower())).toBe('off');
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const operation = bmcs.use(node, () => over);
  expect(await bmcs.read(node, (bmc) => bmc.getPower())).toBe('off');
  end();
  await operation;
  expect(fake.mostSessions).toBe(1);
});
