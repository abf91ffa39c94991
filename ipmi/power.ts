import { hasCode, RailheadError } from '#contract/errors.ts';
import type { PowerAction } from '#contract/steps.ts';
import { chassisStatus } from './chassis.ts';
import type { IpmiClient } from './client.ts';
import { type Failure, ipmiError } from './failures.ts';

export type Power = 'on' | 'off';

export interface PowerRun {
  /** Milliseconds since the epoch. */
  deadline: number;
  signal?: AbortSignal | undefined;
  /** How long an OS may take to obey before it is switched off; never when left out. */
  forceAfterMs?: number | undefined;
  /** Called right before the command that has the firmware start, which may come long after the first one. */
  beforeStart?(): Promise<void>;
}

/** The words of `ipmitool chassis power`. */
type Control = 'on' | 'off' | 'cycle' | 'reset' | 'diag' | 'soft';

const lookEveryMs = 2000;
/** Command not supported in present state (IPMI 2.0 table 5-2): the machine may be there already. */
const notInThisState = 0xd5;

/**
 * Brings a machine's power to what `action` asks and waits until the BMC reports it. What is so already is not asked for again;
 * a machine that is off is switched on by `cycle`.
 * @throws RailheadError DRIVER_ERROR (`power-timeout` names the last state), INVALID_STATE (`powered-off`), or as the client
 */
export async function setPower(client: IpmiClient, action: PowerAction, run: PowerRun): Promise<Power> {
  const { power: now } = await chassisStatus(client, run.signal);
  const step = plan(action, now);
  if (step === undefined) return now;
  for (const { control, until } of step) {
    if (starts(control)) await run.beforeStart?.();
    await send(client, control, until, run);
    if (control === 'soft' && run.forceAfterMs !== undefined)
      await endOrForce(client, action, run.forceAfterMs, run);
    else await waitFor(client, until, action, run);
  }
  return step.at(-1)?.until ?? now;
}

function starts(control: Control): boolean {
  return control === 'on' || control === 'cycle' || control === 'reset';
}

async function endOrForce(
  client: IpmiClient,
  action: PowerAction,
  patience: number,
  run: PowerRun,
): Promise<void> {
  const ends = client.clock.now() + patience;
  const deadline = Math.min(run.deadline, ends);
  try {
    await waitFor(client, 'off', action, { ...run, deadline });
  } catch (error) {
    const hadItsTime = ends <= run.deadline;
    if (!hadItsTime || !hasCode(error, 'DRIVER_ERROR') || error.details.reason !== 'power-timeout')
      throw error;
    await send(client, 'off', 'off', run);
    await waitFor(client, 'off', action, run);
  }
}

interface Step {
  control: Control;
  until: Power;
}

/** What is to be sent to a machine whose power is `now`; undefined when nothing is. */
export function plan(action: PowerAction, now: Power): Step[] | undefined {
  if (action === now || (action === 'graceful-off' && now === 'off')) return undefined;
  if (action === 'on' || (action === 'cycle' && now === 'off')) return [{ control: 'on', until: 'on' }];
  if (now === 'off')
    throw new RailheadError(
      'INVALID_STATE',
      `the machine is off: switch it on instead of asking for ${action}`,
      { reason: 'powered-off' },
    );
  return stepsOfRunning[action];
}

/** IPMI has no graceful restart: its soft shutdown asks the OS by ACPI, then the machine is switched on. */
const stepsOfRunning: Readonly<Record<Exclude<PowerAction, 'on'>, Step[]>> = {
  off: [{ control: 'off', until: 'off' }],
  'graceful-off': [{ control: 'soft', until: 'off' }],
  reset: [{ control: 'reset', until: 'on' }],
  'graceful-restart': [
    { control: 'soft', until: 'off' },
    { control: 'on', until: 'on' },
  ],
  cycle: [{ control: 'cycle', until: 'on' }],
  nmi: [{ control: 'diag', until: 'on' }],
};

/** Sends a command once, to its end even if it is cancelled meanwhile. After a failure the state is looked at: the answer may be lost, or the machine there already. */
async function send(client: IpmiClient, control: Control, until: Power, { signal }: PowerRun): Promise<void> {
  signal?.throwIfAborted();
  const command = ['chassis', 'power', control];
  const { failure } = await client.attempt(command);
  if (failure === undefined) return;
  const isTransition = control === 'on' || control === 'off' || control === 'soft';
  if (isTransition && (await isThere(client, until, failure, signal))) return;
  throw ipmiError(failure, command.join(' '));
}

async function isThere(client: IpmiClient, until: Power, failure: Failure, signal: AbortSignal | undefined) {
  if (failure.kind !== 'timeout' && failure.completionCode !== notInThisState) return false;
  return (await chassisStatus(client, signal)).power === until;
}

async function waitFor(
  client: IpmiClient,
  wanted: Power,
  action: PowerAction,
  { deadline, signal }: PowerRun,
): Promise<void> {
  for (;;) {
    const { power } = await chassisStatus(client, signal);
    if (power === wanted) return;
    if (client.clock.now() + lookEveryMs > deadline) throw timedOut(action, wanted, power);
    await client.clock.sleep(lookEveryMs, signal);
  }
}

function timedOut(action: PowerAction, wanted: Power, power: Power): RailheadError {
  const cure = action.startsWith('graceful')
    ? ': its OS does not answer the power button; use off or cycle'
    : '';
  return new RailheadError('DRIVER_ERROR', `the machine did not get ${wanted} in time${cure}`, {
    reason: 'power-timeout',
    action,
    wanted,
    power,
  });
}
