import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ignore } from '#base/errors.ts';
import { fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import type { Fault } from './bmc/faultSwitches.ts';
import type { MachineStatus } from './machine/control.ts';
import type { ResetType } from './machine/power.ts';
import type { MachineRecord } from './record.ts';

/**
 * Asks a machine's supervisor.
 * @throws RailheadError UNAVAILABLE when no supervisor runs; what the supervisor answered otherwise
 */
export function machineStatus(machine: MachineRecord): Promise<MachineStatus> {
  return ask(machine, 'GET', '/status');
}

/** Carries out a power action and returns the state after it. */
export function machinePower(machine: MachineRecord, action: ResetType): Promise<MachineStatus> {
  return ask(machine, 'POST', '/power', { action });
}

/** Switches exactly these faults of a BMC on. */
export function machineFaults(machine: MachineRecord, faults: readonly Fault[]): Promise<MachineStatus> {
  return ask(machine, 'PUT', '/faults', { faults });
}

/** Whether the machine's supervisor is gone before `timeoutMs` have passed. The kernel closes its sockets however it ends. */
export async function supervisorGone(machine: MachineRecord, timeoutMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(machine.controlSocket);
  const timer = setTimeout(() => resolve(false), timeoutMs);
  socket.on('error', ignore);
  socket.once('close', () => resolve(true));
  const gone = await promise;
  clearTimeout(timer);
  socket.destroy();
  return gone;
}

async function ask(
  machine: MachineRecord,
  method: string,
  path: string,
  body?: unknown,
): Promise<MachineStatus> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const call = request(
    { socketPath: machine.controlSocket, method, path, headers: { 'content-type': 'application/json' } },
    (answer) => text(answer).then((all) => resolve({ status: answer.statusCode ?? 0, text: all }), reject),
  );
  call.on('error', (cause) => reject(noSupervisor(machine, cause)));
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const answer = await promise;
  const document = JSON.parse(answer.text) as MachineStatus & { error: WireError };
  if (answer.status !== 200) throw fromWireError(document.error);
  return document;
}

function noSupervisor({ name }: MachineRecord, cause: Error): RailheadError {
  return new RailheadError(
    'UNAVAILABLE',
    `the supervisor of ${name} does not run; run: railhead rack down, then railhead rack up`,
    { reason: 'no-supervisor', name },
    cause,
  );
}
