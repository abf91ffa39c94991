import { onTestFinished } from 'vitest';
import type { CacheImage } from '#contract/images.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { DeployImage } from '#contract/operations.ts';
import { joinByHand } from '../../../fakes/joinByHand.ts';
import { leaseTo } from './leases.ts';
import { configureSite, type LoopbackSite } from './loopbackSite.ts';
import { type ScriptedCentre, startCentre } from './scriptedCentre.ts';

export const siteId = 'site_01bench';
export const nodeId = 'node_01bench';
export const mac = '02:00:00:00:00:01';

export const deployInput: DeployImage = {
  ref: 'demo@1',
  digest: '0'.repeat(64),
  format: 'raw',
  compression: 'none',
  sources: [],
};

/** A site agent that has joined a scripted centre, whose spec has one node and one image. */
export interface Bench extends LoopbackSite {
  centre: ScriptedCentre;
  ramdisk: CacheImage;
}

export async function setUpBench(
  bind: (site: LoopbackSite) => Partial<SiteNode> | Promise<Partial<SiteNode>> = () => ({}),
): Promise<Bench> {
  const centre = await startCentre();
  onTestFinished(() => centre.down());
  const site = await configureSite();
  await joinByHand(site.stateDirectory, siteId, centre);
  const { source, ...image } = site.image;
  const facts = { ref: 'ramdisk@1', kind: 'os', format: 'raw', compression: 'none' } as const;
  const ramdisk: CacheImage = { ...facts, ...image, sources: [source] };
  const node = { nodeId, macs: [mac], ...(await bind(site)) };
  centre.setSpec(siteId, { cacheImages: [ramdisk], nodes: [node] });
  return { ...site, centre, ramdisk };
}

/** The site's node as the centre lets it boot the ramdisk. */
export function bootEntry({ centre, ramdisk }: Bench): Promise<string> {
  const digests = { x86_64: ramdisk.digest };
  return centre.signEntry({ siteId, nodeId, macs: [mac], ramdisk: { ref: ramdisk.ref, digests } });
}

/** Starts the site and gives its node a lease and a boot entry. */
export async function prepared(bench: Bench): Promise<Bench> {
  await bench.start();
  await leaseTo(bench, mac);
  const prepare = await bench.centre.order('boot.prepareRamdisk', nodeId, { entry: await bootEntry(bench) });
  await bench.centre.result(prepare);
  return bench;
}
