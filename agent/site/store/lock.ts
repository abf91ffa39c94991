import path from 'node:path';
import Database from 'better-sqlite3';
import { RailheadError } from '#contract/errors.ts';

/**
 * Takes the state directory for this process. The kernel gives the lock back however the process ends, which a file with a process
 * id in it does not.
 * @throws RailheadError CONFLICT when another agent holds it
 */
export function lockDirectory(stateDirectory: string): { close(): void } {
  const lock = new Database(path.join(stateDirectory, 'lock'), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const message = `another agent runs in ${stateDirectory}: stop it, or give this one a directory of its own`;
    throw new RailheadError('CONFLICT', message, { path: stateDirectory, reason: 'locked' }, error);
  }
  return { close: () => void lock.close() };
}
