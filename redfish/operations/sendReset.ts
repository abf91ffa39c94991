import { backoffMs } from '#base/backoff.ts';
import { BmcRefusal } from '../answers.ts';
import { says } from '../messages.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { followTask } from '../task.ts';
import { BmcUnreachable } from '../transport.ts';
import { type Machine, type Power, powerOf } from './powerState.ts';
import type { ResetAction } from './resetTypes.ts';

const pause = { firstMs: 2000, maxMs: 10_000 };

/** `in-doubt`: the BMC may or may not have acted, and its state does not tell. */
export type Sent = 'taken' | 'not-offered' | 'in-doubt';

export interface Sending {
  deadline: number;
  /** The state that it leads to: it makes sending needless, and tells what became of a request that was not answered. */
  wanted?: Power;
}

/**
 * Sends the first of the reset types that the BMC takes. After a refusal the state is read first: a BMC may act and answer 503, or
 * refuse because the machine is there already (iDRAC PSU501), and a second reset would undo what the first began.
 * @throws BmcRefusal, BmcUnreachable, RailheadError as `followTask`
 */
export async function sendReset(
  machine: Machine,
  { target }: ResetAction,
  types: readonly string[],
  sending: Sending,
): Promise<Sent> {
  for (const type of types) {
    const sent = await sendType(machine, target, type, sending);
    if (sent !== 'not-offered') return sent;
  }
  return 'not-offered';
}

async function sendType(machine: Machine, target: string, type: string, sending: Sending): Promise<Sent> {
  const { client } = machine;
  const { deadline, wanted } = sending;
  for (let tries = 1; ; tries++) {
    const failure = await trySend(machine, target, type, deadline);
    if (failure === undefined) return 'taken';
    if (isNotOffered(failure)) return 'not-offered';
    if (wanted !== undefined && (await isOrWillBe(machine, wanted))) return 'taken';
    if (mayHaveActed(failure) && (wanted === undefined || type === 'PushPowerButton'))
      return wanted === undefined ? 'in-doubt' : 'taken';
    const waitMs = pauseAfter(failure, tries, client.clock.now());
    if (!mayPass(failure) || client.clock.now() + waitMs > deadline) throw failure;
    await client.clock.sleep(waitMs);
  }
}

async function trySend(
  { client }: Machine,
  target: string,
  type: string,
  deadline: number,
): Promise<BmcRefusal | BmcUnreachable | undefined> {
  try {
    await followTask(client, await client.post(target, { ResetType: type }), deadline);
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

/** A broken connection, and 503 from a BMC that does first and then has no time to say so. */
function mayHaveActed(failure: BmcRefusal | BmcUnreachable): boolean {
  return failure instanceof BmcUnreachable ? failure.sent : failure.answer.status === 503;
}

/**
 * What is worth another try: busy, a conflict with what the machine is doing just now (iDRAC10 refuses On for a
 * while after off), firmware in POST (iLO), and a connection that broke: on and off may be asked for twice.
 */
function mayPass(failure: BmcRefusal | BmcUnreachable): boolean {
  if (failure instanceof BmcUnreachable) return true;
  return [409, 429, 503].includes(failure.answer.status) || says(failure.messages, ...passing);
}

const passing = ['UnableToModifyDuringSystemPOST', 'ResourceInUse', 'ServiceTemporarilyUnavailable'];

function pauseAfter(failure: BmcRefusal | BmcUnreachable, tries: number, now: number): number {
  const header = failure instanceof BmcRefusal ? failure.answer.headers['retry-after'] : undefined;
  return retryAfterMs(header, now) ?? backoffMs(tries, pause);
}

/** Whether the BMC says that it does not have this type, as against not now. */
function isNotOffered(failure: BmcRefusal | BmcUnreachable): boolean {
  if (!(failure instanceof BmcRefusal)) return false;
  return [404, 405, 501].includes(failure.answer.status) || says(failure.messages, ...notOffered);
}

const notOffered = [
  'ActionNotSupported',
  'ActionParameterNotSupported',
  'ActionParameterValueNotInList',
  'ActionParameterValueFormatError',
  'PropertyValueNotInList',
];
