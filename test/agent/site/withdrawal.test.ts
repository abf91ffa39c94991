import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { join } from '#agent/join/join.ts';
import { onHost } from '#central/host.ts';
import { undoWithdrawal, withdrawDigest } from '#central/images/withdrawal.ts';
import { openKeys } from '#central/join/keys.ts';
import { centralPins } from '#central/join/pins.ts';
import { mustRegister, newSigner, newSite, osImage, startTestCentre } from '../../central/centre.ts';
import { configureSite } from './bench/loopbackSite.ts';

/** A real centre, and a site that has joined it and holds the ramdisk of its pool. */
async function setUp() {
  const centre = await startTestCentre();
  onTestFinished(() => centre.close());
  const site = await configureSite();
  const { siteId, joinToken } = await newSite(centre.directory, 'lab');
  const tokenFile = path.join(site.directory, 'join-token');
  await writeFile(tokenFile, joinToken);
  const pins = centralPins(await openKeys(centre.directory));
  const { stateDirectory, image } = site;
  await join({ server: centre.central.agentsUrl, tokenFile, nodeId: siteId, stateDirectory, ...pins });
  const facts = { ref: 'ramdisk@1', kind: 'ramdisk', compression: 'none' } as const;
  const signer = await newSigner(centre.directory);
  await mustRegister(
    centre.call,
    signer.signed(osImage({ ...facts, sha256: image.digest, source: image.source })),
  );
  const policy = { ramdisk: { x86_64: 'ramdisk@1' } };
  await centre.call('pools.create', { tenantId: 'root', siteId, policy });
  await site.start();
  return { centre, site, siteId };
}

const patience = { timeout: 15_000 };

test('a command on the host of the centre stops an image at a site that runs, and brings it back', async () => {
  const { centre, site, siteId } = await setUp();
  const { digest } = site.image;
  const atSite = async () => (await centre.call<{ items: object[] }>('sites.images', { siteId })).data.items;
  const served = async () => (await fetch(`${site.httpUrl}/images/sha256/${digest}`)).status;
  await expect.poll(atSite, patience).toMatchObject([{ ref: 'ramdisk@1', digest, state: 'ready' }]);
  expect(await served()).toBe(200);

  await onHost(centre.directory, ({ store }) => withdrawDigest(store, digest, 'CVE-2026-1'));
  await expect.poll(served, patience).toBe(502);
  await expect.poll(atSite, patience).toEqual([]);

  await onHost(centre.directory, ({ store }) => undoWithdrawal(store, digest));
  await expect.poll(served, patience).toBe(200);
  await expect.poll(atSite, patience).toMatchObject([{ digest, state: 'ready' }]);
}, 60_000);
