import { hasController } from '#contract/bmcBinding.ts';
import { durationMs } from '#contract/durations.ts';
import type { PowerAction } from '#contract/steps.ts';
import type { Power } from '../drivers/driver.ts';
import type { ActionContext, Settlement, SiteAction } from './action.ts';

export const setPower: SiteAction<'power.setPower'> = {
  run: async ({ action, forceAfter }, { withBmc }) => {
    const force = forceAfter === undefined ? {} : { forceAfterMs: durationMs(forceAfter) };
    return { power: await withBmc((bmc, limits) => bmc.setPower(action, { ...limits, ...force })) };
  },
  settle: async ({ action }, context, startedAt) => {
    const booted = bootedSince(context, startedAt);
    const bmc = context.node?.bmc;
    if (bmc !== undefined && !hasController(bmc)) return settledByHands(action, booted);
    const power = await context.withBmc((bmc, limits) => bmc.getPower(limits));
    return settledPower(action, power, booted);
  },
};

/** Whether the machine asked for an address after the act was begun: then the restart did happen. */
function bootedSince({ node, state }: ActionContext, startedAt: number): boolean {
  return node !== undefined && state.events.bootedSince(node.macs, startedAt);
}

/**
 * What the power state and a boot seen since say about an interrupted action. A state that is as asked settles `on` and
 * the offs; a restart leaves no trace in the state, so only a boot proves it.
 */
export function settledPower(action: PowerAction, power: Power, booted: boolean): Settlement {
  const wanted = wantedState[action];
  if (wanted !== 'restart' && wanted === power) return { kind: 'done', result: { power } };
  if (wanted === 'restart' && booted) return { kind: 'done', result: { power } };
  return { kind: 'unknown', found: { power, booted } };
}

/** Where nothing tells the power state: what a boot does not prove is asked for again, of an operator or by another magic packet. */
function settledByHands(action: PowerAction, booted: boolean): Settlement {
  const isProven = booted && ['on', 'restart'].includes(wantedState[action]);
  return isProven ? { kind: 'done', result: { power: 'on' } } : { kind: 'repeat' };
}

const wantedState: Record<PowerAction, Power | 'restart' | 'none'> = {
  on: 'on',
  off: 'off',
  'graceful-off': 'off',
  reset: 'restart',
  'graceful-restart': 'restart',
  cycle: 'restart',
  nmi: 'none',
};
