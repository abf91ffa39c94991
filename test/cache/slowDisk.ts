import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Has the disk take so many milliseconds longer for each call of one kind, until the test ends. */
export function slowly(call: 'unlink' | 'rename', milliseconds: number): void {
  const real = fsp[call] as (...paths: string[]) => Promise<void>;
  const slow = async (...paths: string[]) => {
    await delay(milliseconds);
    return real(...paths);
  };
  replace(call, slow);
  onTestFinished(() => replace(call, real));
}

function replace(call: 'unlink' | 'rename', by: (...paths: string[]) => Promise<void>): void {
  Object.assign(fsp, { [call]: by });
  syncBuiltinESMExports();
}
