import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type LeaseRow, leaseSchema } from './leaseFile.ts';

/** What happens to rows: one is set, or that of an address is erased. */
export type RowChange = LeaseRow | [address: string];

/** A thread that commits leases to their file, so that nothing else waits for the disk. */
export class LeaseWriter {
  readonly #worker: Worker;
  #pending: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #hasEnded = false;

  constructor(file: string) {
    this.#worker = new Worker(`(${commitLeases})()`, {
      eval: true,
      workerData: { file, leaseSchema },
    });
    this.#worker.on('message', (failure: string | undefined) => {
      this.#settle(failure === undefined ? undefined : new Error(failure));
    });
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('the thread that stores leases has ended')));
  }

  /** Whether the thread is gone: another one is to take its place. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Commits all of the changes or none; one call at a time. Resolves once they are on stable storage.
   * @throws Error when they cannot be stored
   */
  write(changes: readonly RowChange[]): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
    this.#worker.postMessage(changes);
    return written;
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await ended;
  }

  #end(error: Error): void {
    this.#hasEnded = true;
    this.#settle(error);
  }

  #settle(error?: Error): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (error === undefined) pending?.resolve();
    else pending?.reject(error);
  }
}

/**
 * The thread's program. It is started from its own text, since the single executable has no files that a thread could be started from:
 * so it uses nothing but what Node has built in, and nothing of this module. SQLite forgets locks when another copy of it closes the same file in one
 * process (https://www.sqlite.org/howtocorrupt.html, 2.2): that of Node alone opens this file.
 */
function commitLeases(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(workerData.file, { timeout: 5000 });
  database.exec(workerData.leaseSchema);
  const set = database.prepare('INSERT OR REPLACE INTO dhcp_lease VALUES (?, ?, ?, ?)');
  const erase = database.prepare('DELETE FROM dhcp_lease WHERE address = ?');
  const commit = (changes: RowChange[]) => {
    database.exec('BEGIN IMMEDIATE');
    for (const change of changes) {
      if (change.length === 1) erase.run(...change);
      else set.run(...change);
    }
    database.exec('COMMIT');
  };
  parentPort?.on('message', (changes: RowChange[] | 'close') => {
    if (changes === 'close') {
      database.close();
      parentPort.close();
      return;
    }
    try {
      commit(changes);
      parentPort.postMessage(undefined);
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      parentPort.postMessage(String(error));
    }
  });
}
