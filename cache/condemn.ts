import type { Damage } from './heldIndex.ts';
import { moveToQuarantine } from './quarantine.ts';
import type { Shelf } from './shelf.ts';

/**
 * Nobody gets the bytes that now lie under a digest's name any more: not now, not after a restart. Who has the file open reads on; its digest
 * tells the receiver. Under the digest's lock, and of the very file that was found bad.
 */
export async function condemn(shelf: Shelf, found: Omit<Damage, 'at'>): Promise<void> {
  const damage = { ...found, at: shelf.clock.now() };
  shelf.holdings.damage(damage);
  await moveToQuarantine(shelf.paths, damage.digest).catch(shelf.onFault);
  shelf.onDamage(damage);
}
