import { ignore, isENOENT } from '#base/errors.ts';
import { condemn } from './condemn.ts';
import { type HashOptions, hashFile } from './hashFile.ts';
import { faultOfFile } from './openRegular.ts';
import { artifactPath } from './path.ts';
import type { Shelf } from './shelf.ts';
import { type FileStamp, sameStamp, stampAt } from './stamp.ts';

/** One hashing that is under way. */
interface Run {
  ended: Promise<boolean>;
  doneBytes: number;
  /** Somebody waits for its end: no more pauses then. `hurry` resolves at that moment. */
  isHurried: boolean;
  hurry: PromiseWithResolvers<void>;
}

/** What one reading of a file found: its digest, or why there is none. `stamp` is of the file before. */
interface Reading {
  stamp: FileStamp;
  found?: string;
  fault?: string;
}

/** A file that changes while it is hashed is hashed again so many times in all. */
const mostReadings = 3;

/** Hashes files, one reading of a digest at a time: whoever asks meanwhile gets the same answer. */
export class Proving {
  readonly #shelf: Shelf;
  readonly #runs = new Map<string, Run>();
  readonly #stop = new AbortController();

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  /**
   * Hashes a file that has no record; whether it is held now. A file with other bytes than its name says, or that cannot be read, goes to
   * quarantine.
   * @throws when the store is closed meanwhile
   */
  prove(digest: string, ref: string): Promise<boolean> {
    const { holdings } = this.#shelf;
    return this.#join(digest, {}, async (run) => {
      if (holdings.get(digest) !== undefined) return true;
      return holdings.unproven.has(digest) && this.#settle(digest, ref, run, {});
    });
  }

  /**
   * Hashes an artifact that is held once more; whether it is still held. One that was damaged goes to quarantine. Without `pace` somebody
   * waits: the artifact is in use, and a slow reading of it that is under way hurries.
   * @throws what `pace` throws, and when the store is closed meanwhile
   */
  async verify(digest: string, options: HashOptions = {}): Promise<boolean> {
    const release = options.pace === undefined ? this.#shelf.uses.begin(digest) : ignore;
    try {
      return await this.#join(digest, options, async (run) => {
        const record = this.#shelf.holdings.get(digest);
        return record !== undefined && this.#settle(digest, record.ref, run, options);
      });
    } finally {
      release();
    }
  }

  /** How many bytes of an artifact that is being hashed were read by now. */
  doneBytes(digest: string): number | undefined {
    return this.#runs.get(digest)?.doneBytes;
  }

  /** Ends what is being hashed; who waits for it is told. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the cache is closed'));
    await Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended));
  }

  #join(digest: string, { pace }: HashOptions, work: (run: Run) => Promise<boolean>): Promise<boolean> {
    let run = this.#runs.get(digest);
    if (run === undefined) {
      const hurry = Promise.withResolvers<void>();
      run = { ended: Promise.resolve(false), doneBytes: 0, isHurried: false, hurry };
      this.#runs.set(digest, run);
      run.ended = work(run).finally(() => this.#runs.delete(digest));
    }
    if (pace === undefined) hurryUp(run);
    return run.ended;
  }

  async #settle(digest: string, ref: string, run: Run, options: HashOptions): Promise<boolean> {
    for (let readings = 0; readings < mostReadings; readings++) {
      const reading = await this.#read(digest, run, options);
      const verdict = await this.#shelf.locks.run(digest, () => this.#conclude(digest, ref, reading));
      if (verdict !== 'changed') return verdict;
    }
    return false;
  }

  /** Undefined when there is no file. */
  async #read(digest: string, run: Run, options: HashOptions): Promise<Reading | undefined> {
    const file = artifactPath(this.#shelf.paths, digest);
    const stamp = await stampAt(file);
    if (stamp === undefined) return undefined;
    run.doneBytes = 0;
    const pace = async (bytes: number) => {
      this.#stop.signal.throwIfAborted();
      run.doneBytes += bytes;
      if (!run.isHurried) await Promise.race([options.pace?.(bytes), run.hurry.promise]);
    };
    try {
      return { stamp, found: await hashFile(file, { ...options, pace }) };
    } catch (error) {
      if (isENOENT(error)) return undefined;
      const fault = faultOfFile(error);
      if (fault === undefined) throw error;
      return { stamp, fault };
    }
  }

  /** What a reading says of the file that lies there now: nothing, if that is another one or was changed. */
  async #conclude(digest: string, ref: string, reading: Reading | undefined): Promise<boolean | 'changed'> {
    const { paths, holdings } = this.#shelf;
    const stamp = await stampAt(artifactPath(paths, digest));
    const record = holdings.get(digest);
    if (stamp === undefined) {
      holdings.forget(digest);
      return false;
    }
    if (reading === undefined || !sameStamp(reading.stamp, stamp)) {
      if (record !== undefined && sameStamp(record, stamp)) return true;
      holdings.doubt(digest, stamp);
      return 'changed';
    }
    if (reading.found === digest) {
      this.#record(digest, ref, stamp);
      return true;
    }
    const { fault } = reading;
    const why = fault === undefined ? ('bit-rot' as const) : ('unreadable' as const);
    await condemn(this.#shelf, { digest, ref, reason: why, found: fault ?? reading.found ?? '' });
    return false;
  }

  /** Of when a file was used that no record vouched for, its own time tells most: the order in which they came. */
  #record(digest: string, ref: string, stamp: FileStamp): void {
    const { clock, holdings } = this.#shelf;
    const now = clock.now();
    const came = Math.min(now, Number(stamp.mtimeNs / 1_000_000n));
    const record = holdings.get(digest) ?? { digest, ref, usedAt: came };
    holdings.record({ ...record, ...stamp, verifiedAt: now });
  }
}

function hurryUp(run: Run): void {
  run.isHurried = true;
  run.hurry.resolve();
}
