import type { ClientChannel } from 'ssh2';
import { visible } from '#base/visible.ts';
import type { Entry } from './entry.ts';
import { notEntered } from './errors.ts';

/**
 * Types what leads to the serial port, each command when the command line asks; a BMC that refuses says so within `quietMs`. Returns what came after the last one: the port's first output.
 * @throws RailheadError DRIVER_ERROR (`console-refused`)
 */
export async function enter(
  channel: ClientChannel,
  entry: Entry,
  { host, limitMs, quietMs }: { host: string; limitMs: number; quietMs: number },
): Promise<Buffer> {
  if (entry.done) return Buffer.alloc(0);
  const after: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = () => reject(notEntered(host, visible(entry.words)));
  let isBack = false;
  const settle = () => {
    const keys = isBack ? entry.again() : undefined;
    if (keys !== undefined) type(keys);
    else if (isBack) fail();
    else resolve();
  };
  let settling: NodeJS.Timeout | undefined;
  const type = (keys: string) => {
    channel.write(keys);
    after.length = 0;
    isBack = false;
    if (entry.done) settling = setTimeout(settle, quietMs);
  };
  const take = (bytes: Buffer) => {
    const text = bytes.toString('latin1');
    after.push(bytes);
    if (entry.done) isBack = entry.isBack(text);
    else {
      const keys = entry.next(text);
      if (keys !== undefined) type(keys);
    }
  };
  const limit = setTimeout(fail, limitMs);
  channel.on('data', take).once('close', fail);
  try {
    await promise;
    return Buffer.concat(after);
  } finally {
    clearTimeout(limit);
    clearTimeout(settling);
    channel.off('data', take).off('close', fail);
  }
}
