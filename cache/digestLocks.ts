/**
 * For each digest one change of what lies under its name at a time: a commit, an eviction or a move to quarantine looks at the file and
 * acts on it, and nothing comes between. Hashing is done outside, and what it found is compared with the file inside.
 */
export class DigestLocks {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` when what was asked for before has ended. Not to be nested. */
  async run<Result>(digest: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(digest);
    const mine = Promise.withResolvers<void>();
    this.#last.set(digest, mine.promise);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(digest) === mine.promise) this.#last.delete(digest);
      mine.resolve();
    }
  }
}
