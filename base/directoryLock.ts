import path from 'node:path';
import Database from 'better-sqlite3';
import { systemCode } from './errors.ts';

/**
 * Takes `directory` for this process, by a lock on its file `lock`; undefined while another process has it. The kernel gives
 * the lock back however the process ends, which a file with a process id in it does not.
 * @throws the driver's error when the file cannot be opened or locked at all
 */
export function lockDirectory(directory: string): { close(): void } | undefined {
  const lock = new Database(path.join(directory, 'lock'), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (systemCode(error) === 'SQLITE_BUSY') return undefined;
    throw error;
  }
  return { close: () => void lock.close() };
}
