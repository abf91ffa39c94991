import { createPublicKey } from 'node:crypto';
import { spkiPin } from '#contract/join.ts';
import type { Queries } from '../store/store.ts';
import { type KeyUse, keyUses, readRing } from './keyRing.ts';
import { type CentralKeys, openKeys } from './keys.ts';
import { keyNeeds } from './retire.ts';

/** Every key with its file and pin, and, where an older one is still accepted, who needs it. */
export async function listKeys(store: Queries, directory: string) {
  const ring = await readRing(directory);
  const keys = await openKeys(directory);
  const uses = keyUses.map(async (use) => {
    const [newest, ...older] = ring.keys[use];
    const pins = pinsOf(keys, use);
    const listed = ring.keys[use].map(({ file, since }, index) => ({
      file,
      state: index === 0 ? 'newest' : 'accepted',
      since,
      ...(pins[index] !== undefined && { pin: pins[index] }),
    }));
    const needs = newest && older.length > 0 && (await keyNeeds(store, use, newest.since, ring.number));
    return [use, needs ? { keys: listed, neededBy: needs } : { keys: listed }] as const;
  });
  return { number: ring.number, ...Object.fromEntries(await Promise.all(uses)) };
}

/** In the order of the ring; a key at rest has none. */
function pinsOf({ authority, signing, joinEncryption, older }: CentralKeys, use: KeyUse): string[] {
  const found = {
    authority: [authority, ...older.authorities].map(({ certificate }) => createPublicKey(certificate)),
    signing: [signing, ...older.signing].map((key) => createPublicKey(key)),
    'join-encryption': [joinEncryption, ...older.joinEncryption].map((key) => createPublicKey(key)),
    'at-rest': [],
  };
  return found[use].map(spkiPin);
}
