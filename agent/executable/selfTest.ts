import Database from 'better-sqlite3';
import koffi from 'koffi';
import { compress, decompress } from 'zstd-napi';

/** Uses each native module once, so that a build on the wrong machine shows at once. Prints what it saw as JSON. */
export function selfTest(): void {
  const database = new Database(':memory:');
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get();
  database.close();
  const zstd = decompress(compress(Buffer.from('railhead'))).toString();
  const getpid = koffi.load(null).func('int getpid()');
  const libc = getpid() === process.pid;
  process.stdout.write(`${JSON.stringify({ node: process.version, sqlite, zstd, libc })}\n`);
}
