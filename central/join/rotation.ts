import path from 'node:path';
import { lockDirectory } from '#base/directoryLock.ts';
import { RailheadError } from '#contract/errors.ts';
import { type KeyRing, type KeyUse, nextNumber, readRing, writeRing } from './keyRing.ts';
import { makeKey, openKeys, removeKey } from './keys.ts';

/**
 * Puts a new key in the place of the newest of a use; that one is accepted until it is retired. A running centre takes it up within a second.
 * @throws RailheadError INVALID_STATE (`overlap`) while an older one is accepted already
 */
export async function rotateKey(directory: string, use: KeyUse): Promise<KeyRing> {
  return alone(directory, async () => {
    const ring = await readRing(directory);
    const [newest, ...older] = ring.keys[use];
    if (newest === undefined || older.length > 0) throw stillOlder(use);
    const { authority } = await openKeys(directory);
    const file = await makeKey(directory, use, authority);
    const since = new Date().toISOString();
    return change(directory, ring, use, [{ file, since }, newest]);
  });
}

/**
 * Ends the acceptance of all but the newest key of a use, and removes their files.
 * @throws RailheadError INVALID_STATE (`no-older`) when there is none
 */
export async function dropOlderKeys(directory: string, use: KeyUse): Promise<KeyRing> {
  return alone(directory, async () => {
    const ring = await readRing(directory);
    const [newest, ...older] = ring.keys[use];
    if (newest === undefined || older.length === 0) throw noOlder(use);
    const changed = await change(directory, ring, use, [newest]);
    for (const { file } of older) await removeKey(directory, file);
    return changed;
  });
}

/** When the newest key of a use took its place. @throws RailheadError INVALID_STATE (`no-older`) when it is the only one */
export async function overlapSince(directory: string, use: KeyUse): Promise<string> {
  const [newest, ...older] = (await readRing(directory)).keys[use];
  if (newest === undefined || older.length === 0) throw noOlder(use);
  return newest.since;
}

async function change(
  directory: string,
  ring: KeyRing,
  use: KeyUse,
  keys: KeyRing['keys'][KeyUse],
): Promise<KeyRing> {
  const changed = { number: nextNumber(ring.number), keys: { ...ring.keys, [use]: keys } };
  await writeRing(directory, changed);
  return changed;
}

async function alone<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  const lock = lockDirectory(path.join(directory, 'keys'));
  if (lock === undefined)
    throw new RailheadError('CONFLICT', 'another command changes the keys: try again', { reason: 'locked' });
  try {
    return await work();
  } finally {
    lock.close();
  }
}

function stillOlder(use: KeyUse): RailheadError {
  const message = `an older ${use} key is still accepted: retire it first`;
  return new RailheadError('INVALID_STATE', message, { reason: 'overlap', use });
}

function noOlder(use: KeyUse): RailheadError {
  const message = `there is no older ${use} key: 'railhead central keys list' shows what there is`;
  return new RailheadError('INVALID_STATE', message, { reason: 'no-older', use });
}
