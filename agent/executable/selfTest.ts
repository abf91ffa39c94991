import Database from 'better-sqlite3';
import koffi from 'koffi';
import { compress, decompress } from 'zstd-napi';
import { LeaseWriter } from '#bootserver/dhcp/leaseWriter.ts';

/** Uses each native module and the thread of the leases once, so that a build on the wrong machine shows at once. Prints what it saw as JSON. */
export async function selfTest(): Promise<void> {
  const database = new Database(':memory:');
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  const zstd = decompress(compress(Buffer.from('railhead'))).toString();
  const getpid = koffi.load(null).func('int getpid()');
  const libc = getpid() === process.pid;
  const leases = await writesLeases();
  process.stdout.write(`${JSON.stringify({ node: process.version, sqlite, zstd, libc, leases })}\n`);
}

async function writesLeases(): Promise<boolean> {
  const writer = new LeaseWriter(':memory:');
  await writer.write([['10.0.0.1', '1/02:00:00:00:00:01', 'bound', 0]]);
  await writer.close();
  return true;
}
