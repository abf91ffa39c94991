import { once } from 'node:events';
import { connect } from 'node:net';
import type { ReadStream, WriteStream } from 'node:tty';
import { RailheadError } from '#contract/errors.ts';
import type { MachineRecord } from './record.ts';

/** ^], as telnet and virsh use it. */
const detachKey = 0x1d;

/**
 * Joins a terminal to a machine's serial console until ^] is typed, input ends or the rack goes down.
 * @throws RailheadError UNAVAILABLE when no supervisor runs
 */
export async function attachConsole(
  machine: MachineRecord,
  input: ReadStream | NodeJS.ReadStream,
  output: WriteStream | NodeJS.WriteStream,
): Promise<void> {
  const socket = connect(machine.consoleSocket);
  try {
    await once(socket, 'connect');
  } catch (cause) {
    throw new RailheadError(
      'UNAVAILABLE',
      `the supervisor of ${machine.name} does not run; run: railhead rack up`,
      { reason: 'no-supervisor', name: machine.name },
      cause,
    );
  }
  output.write(`attached to ${machine.name}; ^] detaches\r\n`);
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => output.write(bytes));
  input.on('data', (bytes: Buffer) => {
    if (bytes.includes(detachKey)) socket.destroy();
    else socket.write(bytes);
  });
  input.on('end', () => socket.end());
  if (input.isTTY) input.setRawMode(true);
  await once(socket, 'close');
  if (input.isTTY) input.setRawMode(false);
  input.pause();
}
