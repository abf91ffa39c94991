import Database from 'better-sqlite3';
import koffi from 'koffi';
import { compress, decompress } from 'zstd-napi';
import { LeaseWriter } from '#bootserver/dhcp/leaseWriter.ts';

/** Uses each native module, the thread of the leases and what is loaded when it is needed once, so that a build on the wrong machine shows at once. Prints what it saw as JSON. */
export async function selfTest(): Promise<void> {
  const database = new Database(':memory:');
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  const zstd = decompress(compress(Buffer.from('railhead'))).toString();
  const getpid = koffi.load(null).func('int getpid()');
  const libc = getpid() === process.pid;
  const leases = await writesLeases();
  const ssh = await hasSsh();
  process.stdout.write(`${JSON.stringify({ node: process.version, sqlite, zstd, libc, leases, ssh })}\n`);
}

async function writesLeases(): Promise<boolean> {
  const writer = new LeaseWriter(':memory:');
  await writer.write([['10.0.0.1', '1/02:00:00:00:00:01', 'bound', 0]]);
  await writer.close();
  return true;
}

/** Without its optional addons, which are not inside. */
async function hasSsh(): Promise<boolean> {
  const { utils } = await import('ssh2');
  return utils.generateKeyPairSync('ed25519').public.startsWith('ssh-ed25519 ');
}
