import { hasCode, RailheadError } from '#contract/errors.ts';
import type { PowerAction } from '#contract/steps.ts';
import type { JsonObject } from '../json.ts';
import { type Machine, type Power, waitForPower } from './powerState.ts';
import { findResetAction, type ResetAction, resetTypesFor } from './resetTypes.ts';
import { sendReset } from './sendReset.ts';

export interface PowerOptions {
  /** Milliseconds since the epoch. */
  deadline: number;
  /** How long an OS may take to obey `graceful-off` and `graceful-restart` before it is forced; never when left out. */
  forceAfterMs?: number;
}

/**
 * Brings a machine's power to what `action` asks and waits until the BMC reports it. What is so already is not
 * asked for again; a machine that is off is switched on by `cycle`.
 * @throws RailheadError DRIVER_ERROR `power-timeout`, `task-failed` or as the client; UNSUPPORTED with what
 *   the BMC allows; INVALID_STATE `powered-off` for what only a running machine can do
 */
export async function setPower(machine: Machine, action: PowerAction, options: PowerOptions): Promise<Power> {
  const { power, system } = await waitForPower(machine, ['on', 'off'], options.deadline);
  const change = { machine, reset: await resetAction(machine, system.body), ...options };
  if (action === 'on') return power === 'on' ? power : switchOn(change);
  if (action === 'off') return power === 'off' ? power : switchOff(change);
  if (action === 'graceful-off') return power === 'off' ? power : gracefulOff(change);
  if (power === 'off') return action === 'cycle' ? switchOn(change) : refuse(action);
  if (action === 'graceful-restart') return gracefulRestart(change);
  return action === 'nmi' ? interrupt(change) : restart(change);
}

/** One change of one machine's power. */
interface Change extends PowerOptions {
  machine: Machine;
  reset: ResetAction;
}

const switchOn = (change: Change) => reach(change, 'on', 'on');
const switchOff = (change: Change) => reach(change, 'off', 'off');

/** Sends what leads to the state `wanted`, and waits for it. */
async function reach(change: Change, action: PowerAction, wanted: Power): Promise<Power> {
  const { machine, reset, deadline } = change;
  const sent = await sendReset(machine, reset, resetTypesFor(action, reset.allowed), { deadline, wanted });
  if (sent === 'not-offered') throw unsupported(action, reset);
  return (await waitForPower(machine, [wanted], deadline)).power;
}

/**
 * Where it may be forced, an OS that does not end in time, or a BMC that cannot ask it, is switched off. An OS that was given longer than the
 * deadline is not forced before its time.
 */
async function gracefulOff(change: Change): Promise<Power> {
  const { machine, deadline, forceAfterMs } = change;
  const patience = machine.client.clock.now() + (forceAfterMs ?? Number.POSITIVE_INFINITY);
  return reach({ ...change, deadline: Math.min(deadline, patience) }, 'graceful-off', 'off').catch(
    (error: unknown) => {
      if (forceAfterMs === undefined || !mayBeForced(error, patience <= deadline)) throw error;
      return switchOff(change);
    },
  );
}

function mayBeForced(error: unknown, hadItsTime: boolean): boolean {
  if (hasCode(error, 'UNSUPPORTED')) return true;
  return hadItsTime && hasCode(error, 'DRIVER_ERROR') && error.details.reason === 'power-timeout';
}

/** By one reset where the BMC has it and said that it took it, else off, wait, on: of those two each shows in the state. */
async function restart(change: Change): Promise<Power> {
  if (await isTaken(change, 'reset')) return stillOn(change);
  await switchOff(change);
  return switchOn(change);
}

/** Whether an OS obeyed a GracefulRestart does not show, so where it may be forced it is asked to end, and started again. */
async function gracefulRestart(change: Change): Promise<Power> {
  if (change.forceAfterMs === undefined && (await isTaken(change, 'graceful-restart')))
    return stillOn(change);
  await gracefulOff(change);
  return switchOn(change);
}

async function isTaken({ machine, reset, deadline }: Change, action: PowerAction): Promise<boolean> {
  return (await sendReset(machine, reset, resetTypesFor(action, reset.allowed), { deadline })) === 'taken';
}

async function stillOn({ machine, deadline }: Change): Promise<Power> {
  return (await waitForPower(machine, ['on'], deadline)).power;
}

async function interrupt(change: Change): Promise<Power> {
  const { machine, reset, deadline } = change;
  const sent = await sendReset(machine, reset, resetTypesFor('nmi', reset.allowed), { deadline });
  if (sent === 'not-offered') throw unsupported('nmi', reset);
  if (sent === 'taken') return stillOn(change);
  const message = 'the BMC did not say whether it sent the NMI; it is not sent twice: look at the machine';
  throw new RailheadError('DRIVER_ERROR', message, { reason: 'unknown-outcome' });
}

function refuse(action: PowerAction): never {
  throw new RailheadError(
    'INVALID_STATE',
    `the machine is off: switch it on instead of asking for ${action}`,
    { reason: 'powered-off' },
  );
}

async function resetAction({ client }: Machine, system: JsonObject): Promise<ResetAction> {
  const reset = await findResetAction(client, system);
  if (reset !== undefined) return reset;
  throw new RailheadError('UNSUPPORTED', 'this BMC offers no reset of its system', { reason: 'no-reset' });
}

function unsupported(action: PowerAction, { allowed }: ResetAction): RailheadError {
  return new RailheadError(
    'UNSUPPORTED',
    `this BMC cannot do ${action}; it offers ${allowed?.join(', ') ?? 'nothing that it names'}`,
    { reason: 'reset-type', allowed },
  );
}
