import { mkdir } from 'node:fs/promises';
import { lockDirectory } from '#base/directoryLock.ts';
import { RailheadError } from '#contract/errors.ts';

/**
 * Takes a cache's folder for this process, until `close` or its end: a second agent would remove what the first one pulls. Undefined where the
 * disk takes no lock, as one that is read-only: such a cache only serves.
 * @throws RailheadError CONFLICT, reason `locked`, when another process has it
 */
export async function lockCache(root: string): Promise<{ close(): void } | undefined> {
  const lock = await taken(root);
  if (lock !== 'by another') return lock;
  const message = `another agent has the image cache ${root}: stop it, or give this one a cache.directory of its own`;
  throw new RailheadError('CONFLICT', message, { path: 'cache.directory', found: root, reason: 'locked' });
}

async function taken(root: string): Promise<{ close(): void } | 'by another' | undefined> {
  try {
    await mkdir(root, { recursive: true });
    return lockDirectory(root) ?? 'by another';
  } catch {
    // What the disk refuses is told when the folders are prepared.
    return undefined;
  }
}
