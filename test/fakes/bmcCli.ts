import { connect, type Socket } from 'node:net';

export interface CliOptions {
  prompt: string;
  /** What the last of these leads to is the serial port; empty where there is no command line at all. */
  commands: readonly string[];
  /** The keys that lead back from the serial port. */
  leave?: string | undefined;
  /** The serial line of the machine. */
  serialPort: number;
}

/** The command line of a BMC, as its SSH has it: `write` is its terminal; returns what takes keys and what hangs up. */
export function bmcCli(options: CliOptions, write: (text: string | Buffer) => void) {
  const left = [...options.commands];
  let line = '';
  let serial: Socket | undefined;

  const toPort = () => {
    serial = connect(options.serialPort, '127.0.0.1');
    serial.on('data', write).on('error', () => {});
  };
  const toCli = () => {
    serial?.destroy();
    serial = undefined;
    left.splice(0, left.length, ...options.commands);
    write(`\r\n${options.prompt}`);
  };
  const obey = () => {
    const command = line;
    line = '';
    if (command === left[0]) left.shift();
    else if (command !== '') write('Unknown command\r\n');
    if (left.length > 0) return write(options.prompt);
    write('Connected to the serial port\r\n');
    toPort();
  };
  if (left.length === 0) toPort();
  else write(`Welcome\r\n\r\n${options.prompt}`);
  return {
    keys: (typed: Buffer) => {
      if (serial !== undefined) {
        if (options.leave !== undefined && typed.toString('latin1').includes(options.leave)) return toCli();
        serial.write(typed);
        return;
      }
      for (const key of typed.toString('latin1')) {
        write(key === '\r' ? '\r\n' : key);
        if (key === '\r') obey();
        else line += key;
      }
    },
    hangUp: () => serial?.destroy(),
    toCli,
  };
}
