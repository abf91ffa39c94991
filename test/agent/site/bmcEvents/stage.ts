import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'vitest';
import { watchBmcs } from '#agent/site/bmcEvents/bmcWatch.ts';
import { driverOpener } from '#agent/site/drivers/open.ts';
import { createBmcs } from '#agent/site/operations/bmcs.ts';
import { openState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';
import type { Fault } from '#rack/bmc/faultSwitches.ts';
import { loopbackCertificate, type SimulatedBmc, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import type { MachineRecord } from '#rack/record.ts';
import { selfSignedIdentity } from '../../../fakes/certificates.ts';
import { driverParts } from '../../../fakes/driverParts.ts';
import { freePort } from '../../../fakes/freePorts.ts';

const tls = await loopbackCertificate();
const shown = await selfSignedIdentity();
const mac = '52:54:00:00:00:01';

export interface WatchedSite {
  /** The last told of the node's health. */
  health(): Extract<SiteEvent, { type: 'bmc.health' }>['health'] | undefined;
  texts(type: SiteEvent['type']): string[];
  /** The machines of the site. */
  have(nodes: SiteNode[]): void;
  node: SiteNode;
  /** Where BMCs post. */
  hookUrl: string;
  stop(): Promise<void>;
}

/** Tests of these run at the same time, since most of their time is waiting: each brings its own. */
export type Own = Pick<TestContext, 'onTestFinished'>;

export async function startBmc(
  { onTestFinished }: Own,
  faults: Fault[] = [],
  more: { port?: number; record?: MachineRecord } = {},
): Promise<SimulatedBmc> {
  const bmc = await startSimulatedBmc({ directory: '/nonexistent', tls, faults, ...more });
  onTestFinished(() => bmc.close());
  return bmc;
}

export async function temporaryState({ onTestFinished }: Own): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-bmc-events-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export interface SiteOptions {
  directory?: string;
  events?: { mode?: 'auto' | 'poll'; listen?: string; url?: string };
  healthEvery?: string;
}

/** What of a site watches over this BMC, as a process does from its start to its end. */
export async function startWatching(
  own: Own,
  { address, record }: Pick<SimulatedBmc, 'address' | 'record'>,
  { directory, events = {}, healthEvery = '1h' }: SiteOptions = {},
): Promise<WatchedSite> {
  const state = await openState(directory ?? (await temporaryState(own)));
  const bmc: BmcBinding = { driver: 'redfish', address, credentialRef: 'secret://bmc/1' };
  const node: SiteNode = { nodeId: 'node-1', macs: [mac], bmc };
  const have = (nodes: SiteNode[]) =>
    state.spec.replace({ nodeId: 'site-1', role: 'site', generation: 1, site: { cacheImages: [], nodes } });
  have([node]);
  const log = silentLog();
  const { username, password } = record.bmc;
  const open = driverOpener({ ...driverParts(), credentialsOf: async () => ({ username, password }) });
  const bmcs = createBmcs({ open, log });
  const { key: privateKey, cert: certificate } = shown;
  const kept = { current: { privateKey, certificate }, onChange: () => () => {} };
  const config = { bmc: { ipmitool: '', healthEvery, logEvery: '1h', events: { mode: 'auto', ...events } } };
  const watch = await watchBmcs({
    ...{ config: config as never, state, bmcs, kept: kept as never, onEvent: () => {}, log },
  });
  let running = true;
  const stop = async () => {
    if (!running) return;
    running = false;
    await watch.close();
    await bmcs.close();
    state.close();
  };
  own.onTestFinished(stop);
  const timeline = () => state.events.timeline(mac, 1000);
  return {
    health: () => timeline().findLast((event) => event.type === 'bmc.health')?.health,
    texts: (type) =>
      timeline().flatMap((event) => (event.type === type && 'text' in event ? [event.text] : [])),
    ...{ have, node, stop },
    hookUrl: `https://${events.listen}`,
  };
}

export async function somewhere(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}
