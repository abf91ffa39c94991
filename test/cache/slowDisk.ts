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

const realOpen = fsp.open;

/** Has each opening of a file fail, until the test ends or nothing is given. */
export function failOpening(error: Error | undefined): void {
  replace('open', error === undefined ? realOpen : () => Promise.reject(error));
  onTestFinished(() => replace('open', realOpen));
}

function replace(call: string, by: unknown): void {
  Object.assign(fsp, { [call]: by });
  syncBuiltinESMExports();
}
