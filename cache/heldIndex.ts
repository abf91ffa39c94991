import type { Sqlite } from '#base/sqlite.ts';
import { openIndex, type Remembered } from './openIndex.ts';
import type { FileStamp } from './stamp.ts';

/** One artifact whose bytes were hashed while its file had this stamp. */
export interface HeldRecord extends FileStamp {
  digest: string;
  ref: string;
  /** Milliseconds since the epoch. */
  usedAt: number;
  /** When its bytes were last hashed, in milliseconds since the epoch; 0 when an older release did not note it. */
  verifiedAt: number;
}

/** What became of an artifact that was held: until it is here again, or an operator cleans up. */
export interface Damage {
  digest: string;
  ref: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Other bytes than its name says, or bytes that the disk does not give back. */
  reason: 'bit-rot' | 'unreadable';
  /** What was found: the digest of the bytes, or the system's error. */
  found: string;
}

/**
 * What is known of the files beside what they say themselves. A file whose stamp has its record was hashed
 * before and counts; the others are hashed first. So the index may be lost at any time, and a write that the disk
 * refuses stops nothing: it costs one reading of the files at the next start. `onFault` is told of each.
 */
export class HeldIndex {
  readonly #database: Sqlite;
  readonly #onFault: (error: unknown) => void;
  /** What earlier runs wrote down. */
  readonly remembered: Readonly<Remembered>;

  constructor(file: string, onFault: (error: unknown) => void) {
    this.#onFault = onFault;
    const { database, held, damages } = openIndex(file, onFault);
    this.#database = database;
    this.remembered = { held, damages };
  }

  put({ digest, ref, sizeBytes, mtimeNs, ctimeNs, ino, usedAt, verifiedAt }: HeldRecord): void {
    this.#write('INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?)', [
      ...[digest, ref, sizeBytes, String(mtimeNs), usedAt, verifiedAt, String(ctimeNs), String(ino)],
    ]);
  }

  remove(digest: string): void {
    this.#write('DELETE FROM held WHERE digest = ?', [digest]);
  }

  putDamage({ digest, ref, at, reason, found }: Damage): void {
    this.#write('INSERT OR REPLACE INTO damaged VALUES (?, ?, ?, ?, ?)', [digest, ref, at, reason, found]);
  }

  removeDamage(digest: string): void {
    this.#write('DELETE FROM damaged WHERE digest = ?', [digest]);
  }

  /** Runs `change` as one transaction: one flush for many rows. */
  atomically(change: () => void): void {
    try {
      this.#database.transaction(change).immediate();
    } catch (error) {
      this.#onFault(error);
    }
  }

  close(): void {
    this.#database.close();
  }

  #write(sql: string, values: readonly (string | number)[]): void {
    try {
      this.#database.prepare(sql).run(...values);
    } catch (error) {
      this.#onFault(error);
    }
  }
}
