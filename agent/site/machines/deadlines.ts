import { RailheadError } from '#contract/errors.ts';
import type { OperationResult } from '#contract/operations.ts';
import { failed, unknown } from '../operations/outcome.ts';
import type { OpenOperation } from '../store/journal.ts';
import type { MachineParts } from './parts.ts';

/** A machine that has said nothing for this long, in milliseconds, is taken for gone: it reports every second while it works. */
const lostAfterMs = 60_000;
const sweepEveryMs = 5_000;

/** Ends what no machine will end, and notices machines that have gone silent. */
export function watchDeadlines(parts: MachineParts): { close(): void } {
  const lost = new Set<string>();
  const sweepOrSay = () => {
    try {
      sweep(parts, lost);
    } catch (error) {
      parts.log.error({ err: error }, 'what is overdue could not be ended; trying again');
    }
  };
  const timer = setInterval(sweepOrSay, sweepEveryMs);
  return { close: () => clearInterval(timer) };
}

function sweep(parts: MachineParts, lost: Set<string>): void {
  const { state, presence, news } = parts;
  const now = Date.now();
  let changed = false;
  for (const open of state.journal.open('ramdisk')) {
    const result = overdue(open, now, presence.silentFor(open.operation.nodeId));
    if (result !== undefined) changed = state.journal.finish(result) || changed;
  }
  changed = noticeLost(parts, lost) || changed;
  if (changed) news.wake();
}

/**
 * How an operation ends without its machine: never begun and past its deadline, or begun, past its deadline and the machine silent.
 * Undefined while there is hope.
 */
export function overdue(
  { operation, cancelled, startedAt }: OpenOperation,
  now: number,
  silentMs: number,
): OperationResult | undefined {
  const { operationId, expiresAt } = operation;
  // A deadline that is no date has passed.
  const inTime = Date.parse(expiresAt) > now;
  if (startedAt === undefined) {
    if (cancelled) return failed(operationId, notBegun('cancelled by the centre', 'cancelled'));
    if (!inTime) return failed(operationId, notBegun(`no machine took it by ${expiresAt}`, 'expired'));
    return undefined;
  }
  if (inTime || silentMs < lostAfterMs) return undefined;
  const message = 'the machine took it, fell silent, and its time has passed';
  return unknown(
    operationId,
    new RailheadError('INVALID_STATE', message, { reason: 'machine-lost', expiresAt }),
  );
}

function notBegun(message: string, reason: string): RailheadError {
  return new RailheadError('INVALID_STATE', message, { reason });
}

/** One event for each machine that falls silent with work in its hands. */
function noticeLost({ state, presence, log }: MachineParts, lost: Set<string>): boolean {
  const working = new Set(
    state.journal
      .open('ramdisk')
      .flatMap((open) => (open.startedAt === undefined ? [] : [open.operation.nodeId])),
  );
  const before = lost.size;
  for (const nodeId of working) {
    const session = state.sessions.byNode(nodeId);
    if (presence.silentFor(nodeId) < lostAfterMs) lost.delete(nodeId);
    else if (session !== undefined && !lost.has(nodeId)) {
      state.events.add({ type: 'agent.lost', role: 'ramdisk', nodeId, mac: session.mac });
      lost.add(nodeId);
      log.warn({ nodeId, mac: session.mac }, 'machine lost');
    }
  }
  return lost.size > before;
}
