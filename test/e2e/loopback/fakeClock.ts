import { globSync, rmSync } from 'node:fs';
import { unpackedPackage } from '../../bootserver/foreign.ts';

/**
 * The environment of a process whose clock is moved (`+35d`, `-1d`): the C library's, by libfaketime, so that Node's Date and OpenSSL's look
 * at certificates agree. Timers and files go by the real time.
 */
export async function clockEnvironment(clock: string | undefined): Promise<Record<string, string>> {
  if (clock === undefined) return {};
  const folder = await unpackedPackage('libfaketime');
  const [library] = globSync(`${folder}/usr/lib/*/faketime/libfaketimeMT.so.1`);
  if (library === undefined) throw new Error('the package libfaketime has no libfaketimeMT.so.1');
  return { LD_PRELOAD: library, FAKETIME: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1', NO_FAKE_STAT: '1' };
}

/** A process that is killed leaves the library's shared memory behind. */
export function forgetClock(pid: number | undefined): void {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
    rmSync(`/dev/shm/${name}`, { force: true });
}
