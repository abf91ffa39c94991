import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { fromWireError, type WireError } from '#contract/errors.ts';
import { unreachable } from '../commands/cache/localAgent.ts';

export interface AttachFlags {
  readOnly?: true | undefined;
  take?: true | undefined;
  force?: true | undefined;
}

/** ^], as telnet and virsh use it. */
const leaveKey = 0x1d;

/**
 * Joins this terminal to a console of the agent until ^] is typed or the console ends. However it ends, the terminal is as it was before.
 * @throws RailheadError what the agent answers, or UNAVAILABLE when none does
 */
export async function attach(socketPath: string, path: string, flags: AttachFlags): Promise<void> {
  const { stdin, stdout, stderr } = process;
  const asking = request({ socketPath, path: `${path}?${queryOf(flags)}`, ...asked });
  asking.flushHeaders();
  const answer = await answered(asking, socketPath);
  stderr.write(
    flags.readOnly ? '^] leaves the console\n' : '^] leaves the console; all else is typed there\n',
  );
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
  const stop = () => void answer.destroy();
  for (const name of signals) process.once(name, stop);
  const type = (bytes: Buffer) => {
    const at = bytes.indexOf(leaveKey);
    if (!flags.readOnly) asking.write(at < 0 ? bytes : bytes.subarray(0, at));
    if (at >= 0) stop();
  };
  // Who types no more, as a script at its end, goes on reading.
  stdin.on('data', type).once('end', () => asking.end());
  if (stdin.isTTY) stdin.setRawMode(true);
  try {
    answer.on('data', (bytes: Buffer) => stdout.write(bytes)).once('error', stop);
    await once(answer, 'close');
  } finally {
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.off('data', type).pause();
    for (const name of signals) process.off(name, stop);
    asking.destroy();
  }
}

const asked = {
  method: 'POST',
  headers: { host: 'bcd', 'content-type': 'application/octet-stream' },
} as const;

function queryOf({ readOnly, take, force }: AttachFlags): string {
  return new URLSearchParams({
    ...(!readOnly && { write: '1' }),
    ...(take && { take: '1' }),
    ...(force && { force: '1' }),
  }).toString();
}

async function answered(asking: ClientRequest, socketPath: string): Promise<IncomingMessage> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asking.once('response', resolve).once('error', (error) => reject(unreachable(socketPath, error)));
  });
  // From here on the end of the answer says all.
  asking.on('error', () => answer.destroy());
  if ((answer.statusCode ?? 500) < 400) return answer;
  throw fromWireError(((await json(answer)) as { error: WireError }).error);
}
