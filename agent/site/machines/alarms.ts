import { RailheadError } from '#contract/errors.ts';
import { failed, unknown } from '../operations/outcome.ts';
import type { BootToken } from '../store/bootTokens.ts';
import type { MachineParts } from './parts.ts';

/** Turns every claimant away, ends what the node was to do, so that nobody is told of it, and calls an operator. */
export function contest(token: BootToken, what: string, parts: MachineParts): RailheadError {
  const { state, log, news, machines } = parts;
  const { nodeId, mac, bootId } = token;
  const text = `${what}; both are refused until the machine boots again`;
  state.atomically(() => {
    state.tokens.contest(mac);
    state.sessions.end(nodeId);
    endContested(nodeId, parts);
    state.events.add({ type: 'machine.alarm', reason: 'contested', text, nodeId, mac, bootId });
  });
  log.error({ nodeId, mac, bootId }, text);
  machines.wake();
  news.wake();
  return refused('two machines claim to be this one', 'contested');
}

function endContested(nodeId: string, { state }: MachineParts): void {
  const error = new RailheadError('INVALID_STATE', 'two machines claimed to be this one', {
    reason: 'contested',
  });
  for (const { operation, startedAt } of state.journal.open('ramdisk', nodeId)) {
    const end = startedAt === undefined ? failed : unknown;
    state.journal.finish(end(operation.operationId, error));
  }
}

/**
 * Turns away a host that has a machine's boot token and not its address, and calls an operator, once until something else happens to the
 * machine: the token is still the machine's.
 */
export function refuseOtherHost(token: BootToken, peer: string, parts: MachineParts): RailheadError {
  const { nodeId, mac, bootId, address } = token;
  const text = `${peer}, an address that is not leased to ${mac}, showed the boot token that was given to ${address}`;
  const [last] = parts.state.events.timeline(mac, 1);
  if (last === undefined || !('text' in last) || last.text !== text) {
    parts.state.events.add({ type: 'machine.alarm', reason: 'other-host', text, nodeId, mac, bootId });
    parts.log.error({ nodeId, mac, bootId, address, peer }, text);
    parts.news.wake();
  }
  return refused(`${peer} is not the address that ${mac} has here: boot again`, 'other-address');
}

function refused(message: string, reason: string): RailheadError {
  return new RailheadError('FORBIDDEN', message, { path: 'token', reason });
}
