import { lockDirectory } from '#base/directoryLock.ts';
import { RailheadError } from '#contract/errors.ts';

/**
 * Takes the state directory for this agent, until `close` or the end of the process.
 * @throws RailheadError CONFLICT when another agent holds it
 */
export function lockState(stateDirectory: string): { close(): void } {
  const lock = lockDirectory(stateDirectory);
  if (lock !== undefined) return lock;
  const message = `another agent runs in ${stateDirectory}: stop it, or give this one a directory of its own`;
  throw new RailheadError('CONFLICT', message, { path: stateDirectory, reason: 'locked' });
}
