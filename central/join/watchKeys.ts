import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignore, isENOENT } from '#base/errors.ts';
import type { CentralContext } from '../context.ts';
import { allSites } from '../signals.ts';
import { ringFile } from './keyRing.ts';
import { openKeys } from './keys.ts';

/** How long a rotation by a command of the host stays unnoticed by a running centre, in milliseconds. */
const lookEveryMs = 1_000;

/** Takes up keys that were rotated while the centre runs, lets `onKeys` follow, and tells every agent. Runs until `stop`. */
export async function watchKeys(
  directory: string,
  context: CentralContext,
  onKeys: () => Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  let known = await stampOf(directory);
  while (!stop.aborted) {
    await sleep(lookEveryMs, undefined, { signal: stop, ref: false }).catch(ignore);
    if (stop.aborted) return;
    try {
      const found = await stampOf(directory);
      if (found === known) continue;
      Object.assign(context.keys, await openKeys(directory));
      await onKeys();
      known = found;
      context.log.info({ number: context.keys.number }, 'the keys were changed');
      context.signals.notify(allSites);
    } catch (error) {
      context.log.error({ err: error }, 'the keys that were changed are not taken up yet');
    }
  }
}

/** Tells one writing of the ring from the next: each makes a new file in its place. */
async function stampOf(directory: string): Promise<string> {
  try {
    const { ino, mtimeMs } = await stat(ringFile(directory));
    return `${ino} ${mtimeMs}`;
  } catch (error) {
    if (isENOENT(error)) return 'none';
    throw error;
  }
}
