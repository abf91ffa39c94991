import type { BootFact } from '#contract/bootFact.ts';
import { explained } from '../store/noSpace.ts';
import type { MachineParts } from './parts.ts';

/**
 * Writes what a ramdisk did, or why it was turned away, into the timeline of the machine that `peer` is leased to. The same words again
 * are not written: who is refused asks every few seconds.
 */
export function noteMachine(
  peer: string,
  text: string,
  fact: BootFact,
  { state, leasedTo, log }: Pick<MachineParts, 'state' | 'leasedTo' | 'log'>,
): void {
  const mac = leasedTo(peer);
  if (mac === undefined) return;
  const [last] = state.events.timeline(mac, 1);
  if (last !== undefined && 'text' in last && last.text === text) return;
  const bootId = state.events.lastBoot(mac);
  const nodeId = state.spec.nodeByMac(mac)?.nodeId;
  try {
    state.events.add({
      type: 'boot.other',
      text,
      fact,
      mac,
      ...(bootId !== undefined && { bootId }),
      ...(nodeId !== undefined && { nodeId }),
    });
  } catch (error) {
    log.error({ err: explained(error), mac }, 'an event was lost');
  }
}
