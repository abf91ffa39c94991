import { backoffMs } from '#base/backoff.ts';
import { RailheadError } from '#contract/errors.ts';
import type { PowerAction } from '#contract/steps.ts';
import { BmcRefusal } from '../answers.ts';
import { says } from '../messages.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { followTask } from '../task.ts';
import { BmcUnreachable } from '../transport.ts';
import { type Machine, type Power, powerOf, waitForPower } from './powerState.ts';
import { findResetAction, type ResetAction, resetTypesFor } from './resetTypes.ts';

const pause = { firstMs: 2000, maxMs: 10_000 };

/**
 * Brings a machine's power to what `action` asks and waits until the BMC reports it. What is so already is not
 * asked for again; a machine that is off is switched on by `cycle`.
 * @throws RailheadError DRIVER_ERROR `power-timeout`, `task-failed` or as the client; UNSUPPORTED with what
 *   the BMC allows; INVALID_STATE `powered-off` for what only a running machine can do
 */
export async function setPower(machine: Machine, action: PowerAction, deadline: number): Promise<Power> {
  const now = await waitForPower(machine, ['on', 'off'], deadline);
  if (action === 'on') return now === 'on' ? now : reach(machine, action, 'on', deadline);
  if (action === 'off' || action === 'graceful-off')
    return now === 'off' ? now : reach(machine, action, 'off', deadline);
  if (now === 'off') return startOrRefuse(machine, action, deadline);
  return action === 'cycle' ? cycle(machine, deadline) : reach(machine, action, 'on', deadline);
}

function startOrRefuse(machine: Machine, action: PowerAction, deadline: number): Promise<Power> {
  if (action === 'cycle') return reach(machine, 'on', 'on', deadline);
  throw new RailheadError(
    'INVALID_STATE',
    `the machine is off: switch it on instead of asking for ${action}`,
    {
      reason: 'powered-off',
    },
  );
}

/** By one reset where the BMC has it, else off, wait, on. */
async function cycle(machine: Machine, deadline: number): Promise<Power> {
  const action = await resetAction(machine);
  const restarted = await sendFirst(
    machine,
    action,
    resetTypesFor('cycle', action.allowed),
    undefined,
    deadline,
  );
  if (restarted) return waitForPower(machine, ['on'], deadline);
  await reach(machine, 'off', 'off', deadline);
  return reach(machine, 'on', 'on', deadline);
}

async function reach(machine: Machine, action: PowerAction, wanted: Power, deadline: number): Promise<Power> {
  const reset = await resetAction(machine);
  const isTransition = wanted === 'off' || action === 'on';
  const sent = await sendFirst(
    machine,
    reset,
    resetTypesFor(action, reset.allowed),
    isTransition ? wanted : undefined,
    deadline,
  );
  if (!sent) throw unsupported(action, reset.allowed);
  return waitForPower(machine, [wanted], deadline);
}

async function resetAction({ client, path }: Machine): Promise<ResetAction> {
  const reset = await findResetAction(client, (await client.get(path)).body);
  if (reset !== undefined) return reset;
  throw new RailheadError('UNSUPPORTED', 'this BMC offers no reset of its system', { reason: 'no-reset' });
}

/**
 * Sends the first of the types that the BMC takes; false when it takes none. `wanted`: the state that makes
 * sending needless.
 */
async function sendFirst(
  machine: Machine,
  reset: ResetAction,
  types: readonly string[],
  wanted: Power | undefined,
  deadline: number,
): Promise<boolean> {
  for (const type of types) {
    try {
      await send(machine, reset.target, type, wanted, deadline);
      return true;
    } catch (error) {
      if (!isNotOffered(error)) throw error;
    }
  }
  return false;
}

/**
 * Sends one reset until the BMC takes it. After a refusal the state is read first: a BMC may act and answer
 * 503, or refuse because the machine is there already (iDRAC PSU501), and a second reset would undo what the
 * first began.
 */
async function send(
  machine: Machine,
  target: string,
  type: string,
  wanted: Power | undefined,
  deadline: number,
): Promise<void> {
  const { client } = machine;
  for (let tries = 1; ; tries++) {
    const failure = await trySend(machine, target, type, deadline);
    if (failure === undefined || (wanted !== undefined && (await isOrWillBe(machine, wanted)))) return;
    const waitMs = pauseAfter(failure, tries, client.clock.now());
    if (!mayPass(failure) || client.clock.now() + waitMs > deadline) throw failure;
    await client.clock.sleep(waitMs);
  }
}

async function trySend(
  machine: Machine,
  target: string,
  type: string,
  deadline: number,
): Promise<Error | undefined> {
  try {
    await followTask(machine.client, await machine.client.post(target, { ResetType: type }), deadline);
    return undefined;
  } catch (error) {
    if (error instanceof BmcRefusal || error instanceof BmcUnreachable) return error;
    throw error;
  }
}

async function isOrWillBe({ client, path }: Machine, wanted: Power): Promise<boolean> {
  const power = powerOf((await client.get(path)).body.PowerState);
  return power === wanted || power === `turning-${wanted}`;
}

/**
 * What is worth another try: busy, a conflict with what the machine is doing just now (iDRAC10 refuses On for a
 * while after off), firmware in POST (iLO), and a request that never left.
 */
function mayPass(failure: Error): boolean {
  if (failure instanceof BmcUnreachable) return !failure.sent;
  if (!(failure instanceof BmcRefusal)) return false;
  return [409, 429, 503].includes(failure.answer.status) || says(failure.messages, ...passing);
}

const passing = ['UnableToModifyDuringSystemPOST', 'ResourceInUse', 'ServiceTemporarilyUnavailable'];

function pauseAfter(failure: Error, tries: number, now: number): number {
  const header = failure instanceof BmcRefusal ? failure.answer.headers['retry-after'] : undefined;
  return retryAfterMs(header, now) ?? backoffMs(tries, pause);
}

/** Whether the BMC says that it does not have this type, as against not now. */
function isNotOffered(error: unknown): boolean {
  if (!(error instanceof BmcRefusal)) return false;
  return [404, 405, 501].includes(error.answer.status) || says(error.messages, ...notOffered);
}

const notOffered = [
  'ActionNotSupported',
  'ActionParameterNotSupported',
  'ActionParameterValueNotInList',
  'ActionParameterValueFormatError',
  'PropertyValueNotInList',
];

function unsupported(action: PowerAction, allowed: readonly string[] | undefined): RailheadError {
  return new RailheadError(
    'UNSUPPORTED',
    `this BMC cannot do ${action}; it offers ${allowed?.join(', ') ?? 'nothing that it names'}`,
    {
      reason: 'reset-type',
      allowed,
    },
  );
}
