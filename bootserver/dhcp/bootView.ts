import { known } from '#base/known.ts';
import { type BootQuirk, type BootQuirks, quirksFor } from '#contract/bootQuirks.ts';
import { type BootContext, isBootClass } from './bootFields.ts';
import type { ClientFacts } from './client.ts';
import type { DhcpNetwork, Reservations } from './network.ts';

/** What a reply's boot part depends on, beside the client. */
export interface BootView {
  network: DhcpNetwork;
  reservations: Reservations;
  /** Whether this client was handed our iPXE in its present boot. */
  loaderGiven: boolean;
  /** Whether it got the loader again and again and never came further. */
  isLooping?: boolean;
}

export function bootContext(client: ClientFacts, view: BootView): BootContext {
  const { network, reservations, loaderGiven, isLooping } = view;
  return {
    network,
    role: network.mode === 'full' ? 'full' : 'proxy',
    quirks: quirksOf(client, network.quirks, reservations.reservation(client.key)?.quirks),
    loaderGiven,
    ...(isLooping !== undefined && { isLooping }),
    ...known({ loader: reservations.loader?.(client.mac) }),
  };
}

/** Those of the network and those of the machine together. */
function quirksOf(client: ClientFacts, ...settings: (BootQuirks | undefined)[]): ReadonlySet<BootQuirk> {
  return isBootClass(client.kind) ? quirksFor(client.kind, ...settings) : new Set();
}
