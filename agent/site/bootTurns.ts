import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import type { BootServerOptions } from '#bootserver/bootServer.ts';
import { macOfKey } from '#bootserver/dhcp/clientKey.ts';
import type { Reservations } from '#bootserver/dhcp/network.ts';
import type { BootDecision, MachineFacts } from '#bootserver/machine.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import { mergedQuirks } from '#contract/bootQuirks.ts';
import { BootTold } from './bootTold.ts';
import { decideBoot } from './decide.ts';
import type { SeenMachines } from './discovery/seenMachines.ts';
import { lastBootOf } from './store/lastBoot.ts';
import { explained } from './store/noSpace.ts';
import type { SiteState } from './store/state.ts';

export interface BootTurnParts {
  state: SiteState;
  /** Machines that the configuration names. */
  hosts: Reservations;
  /** What the UEFI firmware of a machine is handed. */
  loader?: NonNullable<Reservations['loader']>;
  /** Kernel consoles of the ramdisk. */
  consoles: readonly string[];
  seen: Pick<SeenMachines, 'see'>;
  /** Called when there is an event for the centre. */
  onEvent(): void;
  log: Log;
}

/** What the boot server asks the site: who is this, what does it boot, and here is what happened. */
export function bootTurns(
  parts: BootTurnParts,
): Pick<BootServerOptions, 'decide' | 'reservations' | 'sighted' | 'timeline' | 'lastBoot'> {
  const { state } = parts;
  const told = new BootTold(parts);
  state.events.onLost((error, lost) => {
    parts.log.error(
      { err: explained(error), events: lost.length, first: lost[0] },
      'steps of boots were lost',
    );
  });
  return {
    reservations: siteReservations(parts),
    decide: (machine) => decide(machine, parts, told),
    sighted: (sighting) => parts.seen.see(sighting),
    timeline: (event) => told.step(event),
    lastBoot: (mac) => lastBootOf(state.events, mac),
  };
}

/** What the centre says of a node goes before what the configuration says of the machine. */
function siteReservations({ state, hosts, loader }: BootTurnParts): Reservations {
  return {
    reservation: (key) => {
      const local = hosts.reservation(key);
      const node = state.spec.nodeByMac(macOfKey(key) ?? '');
      if (node === undefined) return local;
      const { address, hostname, bootQuirks } = node;
      return {
        ...local,
        ...known({ address, hostname, quirks: mergedQuirks(local?.quirks, bootQuirks) }),
      };
    },
    ...(loader !== undefined && { loader }),
    isReserved: (address) => state.spec.isReserved(address) || hosts.isReserved(address),
  };
}

/** Only a machine that asks from its own address changes what the site knows of it. */
function decide(machine: MachineFacts, parts: BootTurnParts, told: BootTold): BootDecision {
  const { state, consoles } = parts;
  const { mac, leasedTo } = machine;
  const node = state.spec.nodeByMac(mac);
  const loader = node && state.loaders.byNode(node.nodeId);
  const entry = state.entries.byMac(mac, Date.now());
  const turn = decideBoot(machine, {
    entry,
    ...(loader !== undefined && { loader }),
    leasedTo,
    isWithdrawn: state.spec.isWithdrawn,
  });
  if (leasedTo === mac) discover(machine, parts, told);
  if (turn.kind === 'disk') {
    if (turn.alarm) told.alarm(turn.why, machine);
    else if (leasedTo !== mac) told.elsewhere(turn.why, machine);
    return { kind: 'disk', ...(turn.loader === undefined ? {} : { loader: turn.loader }) };
  }
  if (turn.kind === 'iso' || turn.kind === 'vlan') return turn;
  const token = mint(machine, turn.entry, state);
  return {
    kind: 'ramdisk',
    digest: turn.digest,
    token,
    kernelArguments: kernelArguments(turn.entry, consoles),
  };
}

function discover(machine: MachineFacts, { seen }: BootTurnParts, told: BootTold): void {
  const { address: _, bootId: __, leasedTo: ___, ...facts } = machine;
  seen.see({ ...facts, isNewBoot: false });
  told.discovered(machine);
}

/** A kernel that writes its log to a serial line at 115,200 baud starts seconds later: quiet. */
function kernelArguments({ vlan }: BootEntry, consoles: readonly string[]): string[] {
  const place = vlan === undefined ? [] : [`railhead.vlan=${vlan}`];
  return ['quiet', ...consoles.map((console) => `console=${console}`), ...place];
}

/** @throws RailheadError UNAVAILABLE, reason `no-space`, when the token cannot be kept: nobody could join with it */
function mint({ mac, address, bootId }: MachineFacts, entry: BootEntry, { tokens }: SiteState): string {
  const { entryId, nodeId, expiresAt } = entry;
  try {
    return tokens.mint({ mac, entryId, nodeId, address, bootId, expiresAt: Date.parse(expiresAt) });
  } catch (error) {
    throw explained(error);
  }
}
