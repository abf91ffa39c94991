import { lockDirectory } from '#base/directoryLock.ts';
import { RailheadError } from '#contract/errors.ts';

/**
 * Takes the directory for this centre, until `close` or the end of the process: two centres on one would both run its workflows.
 * @throws RailheadError CONFLICT when another centre holds it
 */
export function lockCentre(directory: string): { close(): void } {
  const lock = lockDirectory(directory);
  if (lock !== undefined) return lock;
  const message = `another centre runs in ${directory}: stop it, or give this one a directory of its own`;
  throw new RailheadError('CONFLICT', message, { path: 'directory', reason: 'locked' });
}
