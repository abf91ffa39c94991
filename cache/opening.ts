import { isENOENT } from '#base/errors.ts';
import { condemn } from './condemn.ts';
import type { HeldRecord } from './heldIndex.ts';
import { faultOfFile, openRegular } from './openRegular.ts';
import { artifactPath } from './path.ts';
import { type Held, heldOf } from './read.ts';
import type { Shelf } from './shelf.ts';
import { sameStamp, stampAt } from './stamp.ts';

/** A use is written down at most this often: every range that is served is a use. */
const useGranularityMs = 60_000;

/** Opens artifacts for those who read them. */
export class Opening {
  readonly #shelf: Shelf;
  readonly #onReadFault: (digest: string) => void;

  /** `onReadFault` is told of an open artifact that did not give its bytes. */
  constructor(shelf: Shelf, onReadFault: (digest: string) => void) {
    this.#shelf = shelf;
    this.#onReadFault = onReadFault;
  }

  /** Undefined when the artifact is not held, or when its file changed behind our back: then it has to be proven again. */
  async open(digest: string): Promise<Held | undefined> {
    const { holdings, locks } = this.#shelf;
    if (holdings.get(digest) === undefined) return undefined;
    // Without the lock: hundreds of machines open one image at a time.
    const held = await this.#tryOpen(digest).catch(() => undefined);
    return held ?? locks.run(digest, () => this.#openOrDoubt(digest));
  }

  /** Undefined when the file is not the one of the record. */
  async #tryOpen(digest: string): Promise<Held | undefined> {
    const { paths, uses, holdings } = this.#shelf;
    const release = uses.begin(digest);
    try {
      const { handle, stamp } = await openRegular(artifactPath(paths, digest));
      const record = holdings.get(digest);
      if (record !== undefined && sameStamp(stamp, record)) {
        this.#touch(record);
        const onFault = () => this.#onReadFault(digest);
        return heldOf(handle, record.sizeBytes, { onClose: release, onFault });
      }
      await handle.close();
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  }

  /** Under the digest's lock, so that what lies there now is what counts. */
  async #openOrDoubt(digest: string): Promise<Held | undefined> {
    const { paths, holdings } = this.#shelf;
    const record = holdings.get(digest);
    if (record === undefined) return undefined;
    try {
      const held = await this.#tryOpen(digest);
      if (held !== undefined) return held;
      const stamp = await stampAt(artifactPath(paths, digest));
      if (stamp !== undefined) holdings.doubt(digest, stamp);
      else holdings.forget(digest);
    } catch (error) {
      await this.#notOpened(record, error);
    }
    return undefined;
  }

  async #notOpened({ digest, ref }: HeldRecord, error: unknown): Promise<void> {
    const found = faultOfFile(error);
    if (found !== undefined) await condemn(this.#shelf, { digest, ref, reason: 'unreadable', found });
    else if (isENOENT(error)) this.#shelf.holdings.forget(digest);
    else throw error;
  }

  #touch(record: HeldRecord): void {
    const usedAt = this.#shelf.clock.now();
    if (Math.abs(usedAt - record.usedAt) < useGranularityMs) return;
    this.#shelf.holdings.note({ ...record, usedAt });
  }
}
