import Database from 'better-sqlite3';
import { silentLog } from '#base/log.ts';
import { LeaseStore } from '#bootserver/dhcp/leaseStore.ts';

/** `node leaseStoreProcess.ts FILE`: leases until it is killed; an address is printed once its lease is stored. */
const store = new LeaseStore(process.argv[2] ?? '', new Database(':memory:'), silentLog());

function leaseOne(count: number): void {
  const address = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
  store.set({ key: `1/${count}`, address, state: 'bound', expiresAt: count });
  store.whenStored(() => process.stdout.write(`${address}\n`));
  // Now and then a pause, so that commits are of one lease and of many.
  if (count % 50 === 0) setTimeout(leaseOne, 1, count + 1);
  else setImmediate(leaseOne, count + 1);
}

leaseOne(store.stored.length);
