import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { endDescendants } from '#base/descendants.ts';

test('children and their children end, and nobody else', async () => {
  const child = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const grandchild = Number(String(line));
  endDescendants();
  const [status, signal] = await once(child, 'exit');
  expect({ status, signal }).toEqual({ status: null, signal: 'SIGTERM' });
  await expect.poll(() => isRunning(grandchild)).toBe(false);
  expect(isRunning(process.pid)).toBe(true);
});

/** A process that has ended may still wait for its parent to notice: state Z in /proc. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
