import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { RailheadError } from '#contract/errors.ts';
import { supervisorGone } from './control.ts';
import { commandIn } from './netns.ts';
import { recordedProcess } from './processRecord.ts';
import type { MachineRecord, RackRecord } from './record.ts';

const entry = path.join(import.meta.dirname, 'machine', 'main.ts');

/** A supervisor has this long to end its machine before it is killed. */
const stopMs = 8000;

/**
 * Starts the supervisor of one machine, detached, inside the management namespace; returns when its BMC answers.
 * @throws RailheadError UNAVAILABLE with the last lines of its log when it ends before
 */
export async function startSupervisor(rack: RackRecord, machine: MachineRecord): Promise<void> {
  const logFile = path.join(machine.directory, 'supervisor.log');
  const log = await open(logFile, 'a');
  const [program, args] = commandIn(rack.namespaces.mgmt, [
    process.execPath,
    entry,
    rack.directory,
    machine.name,
  ]);
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log.fd, log.fd, 'ipc'] });
  await log.close();
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  child.once('error', () => ended.abort());
  try {
    await once(child, 'message', { signal: ended.signal });
  } catch (cause) {
    throw new RailheadError(
      'UNAVAILABLE',
      `the supervisor of ${machine.name} did not start: ${await lastLine(logFile)}`,
      { reason: 'supervisor-start', log: logFile },
      cause,
    );
  }
  child.disconnect();
  child.unref();
}

/** Ends the supervisor of one machine, and its QEMU with it; returns when it is gone. */
export async function stopSupervisor(machine: MachineRecord): Promise<void> {
  await signalSupervisor(machine, 'SIGTERM');
  if (await supervisorGone(machine, stopMs)) return;
  await signalSupervisor(machine, 'SIGKILL');
  await supervisorGone(machine, stopMs);
}

async function signalSupervisor(machine: MachineRecord, signal: NodeJS.Signals): Promise<void> {
  const pid = await recordedProcess(machine.directory);
  if (pid !== undefined) process.kill(pid, signal);
}

async function lastLine(file: string): Promise<string> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return lines.at(-1) ?? '';
}
