import type { Log } from '#base/log.ts';
import type { Firmware } from '#ipmi/bootOptions.ts';
import type { SiteConfig } from '../config.ts';
import type { SeenMachines } from '../discovery/seenMachines.ts';
import { ownNetworks } from '../networks.ts';
import type { BmcCredentials } from '../secrets/bmcCredentials.ts';
import type { SiteState } from '../store/state.ts';
import type { BoundNode } from './boundNode.ts';
import { broadcastOf, sendMagicPackets } from './magicPacket.ts';
import { driverOpener, type OpenDriver } from './open.ts';
import type { Requests } from './requests.ts';

export interface SiteDriverParts {
  state: Pick<SiteState, 'bmcPins' | 'cipherSuites' | 'bmcMemories' | 'events'>;
  seen: Pick<SeenMachines, 'all'>;
  requests: Requests;
  credentialsOf(node: BoundNode): Promise<BmcCredentials>;
  log: Log;
}

/** What drives the machines of this site, by its configuration. */
export function siteDrivers(
  config: Pick<SiteConfig, 'provisioning' | 'machine' | 'bmc'>,
  { state, seen, requests, credentialsOf, log }: SiteDriverParts,
): OpenDriver {
  const networks = ownNetworks(config).map(({ address, prefixLength }) => ({
    address,
    broadcast: broadcastOf(address, prefixLength),
  }));
  return driverOpener({
    pins: state.bmcPins,
    ciphers: state.cipherSuites,
    memories: state.bmcMemories,
    ipmitool: config.bmc.ipmitool,
    firmwareOf: (macs) => firmwareOf(macs, seen),
    wake: (macs) => sendMagicPackets(macs, networks),
    manual: { requests, bootedSince: (macs, since) => state.events.bootedSince(macs, since) },
    credentialsOf,
    log,
  });
}

function firmwareOf(macs: readonly string[], seen: Pick<SeenMachines, 'all'>): Firmware | undefined {
  const machine = seen.all().find((one) => one.macs.some((mac) => macs.includes(mac)));
  return machine?.firmware === 'uefi' || machine?.firmware === 'bios' ? machine.firmware : undefined;
}
