import { known } from '#base/known.ts';
import type { Log } from '#base/log.ts';
import type { BootServerOptions } from '#bootserver/bootServer.ts';
import { macOfKey } from '#bootserver/dhcp/clientKey.ts';
import type { Reservations } from '#bootserver/dhcp/network.ts';
import type { BootDecision, BootEvent, MachineFacts } from '#bootserver/machine.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import { mergedQuirks } from '#contract/bootQuirks.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { decideBoot } from './decide.ts';
import type { SeenMachines } from './discovery/seenMachines.ts';
import type { Happening } from './store/events.ts';
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
  const strangers = new RateLimiter(strangerSteps);
  state.events.onLost((error, lost) => {
    parts.log.error(
      { err: explained(error), events: lost.length, first: lost[0] },
      'steps of boots were lost',
    );
  });
  return {
    reservations: siteReservations(parts),
    decide: (machine) => decide(machine, parts),
    sighted: (sighting) => parts.seen.see(sighting),
    timeline: (event) => tellStep(withNode(event, state), strangers, parts),
    lastBoot: state.events.lastBoot,
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

function decide(machine: MachineFacts, parts: BootTurnParts): BootDecision {
  const { state, consoles, seen } = parts;
  const { mac, address: _, bootId: __, leasedTo, ...facts } = machine;
  const node = state.spec.nodeByMac(mac);
  const loader = node && state.loaders.byNode(node.nodeId);
  const entry = state.entries.byMac(mac, Date.now());
  const turn = decideBoot(machine, {
    entry,
    ...(loader !== undefined && { loader }),
    leasedTo,
    isWithdrawn: state.spec.isWithdrawn,
  });
  seen.see({ ...facts, mac, isNewBoot: false });
  discover(machine, parts);
  if (turn.kind === 'disk') {
    if (turn.alarm) alarm(turn.why, machine, parts);
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

function alarm(text: string, { mac, bootId, address }: MachineFacts, parts: BootTurnParts): void {
  parts.log.error({ mac, bootId, address }, text);
  tell(withNode({ type: 'machine.alarm', reason: 'other-host', text, mac, bootId }, parts.state), parts);
}

/** A machine that nobody has named is told to the centre once. */
function discover({ mac, uuid, bootId }: MachineFacts, parts: BootTurnParts): void {
  const { state } = parts;
  if (state.spec.nodeByMac(mac) !== undefined || state.events.knows(mac, 'machine.discovered')) return;
  tell({ type: 'machine.discovered', mac, bootId, ...(uuid === undefined ? {} : { uuid }) }, parts);
}

function withNode<Event extends BootEvent | Happening>(
  event: Event,
  state: SiteState,
): Event & { nodeId?: string } {
  const nodeId = state.spec.nodeByMac(event.mac ?? '')?.nodeId;
  return nodeId === undefined ? event : { ...event, nodeId };
}

/** Steps of machines without a node that are written down: a rack that boots at once, not a flood of made-up addresses. */
const strangerSteps = { perSecond: 50, burst: 2000 };

function tellStep(step: BootEvent & { nodeId?: string }, strangers: RateLimiter, parts: BootTurnParts): void {
  const kind = step.type === 'boot.log' ? 'lines of installers' : 'steps';
  if (step.nodeId !== undefined || strangers.take(kind) === 0) tell(step, parts);
}

/** A machine boots also when its history cannot be written. */
function tell(happening: Happening, { state, onEvent, log }: BootTurnParts): void {
  try {
    state.events.add(happening);
  } catch (error) {
    log.error({ err: explained(error), ...happening }, 'an event was lost');
    return;
  }
  // The centre is not told of these.
  if (happening.type !== 'boot.log') onEvent();
}
