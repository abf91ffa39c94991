/** How often each artifact is in use now. */
export class Uses {
  readonly #counts = new Map<string, number>();

  has(digest: string): boolean {
    return this.#counts.has(digest);
  }

  /** Begins one use; returns how it ends. */
  begin(digest: string): () => void {
    this.#counts.set(digest, (this.#counts.get(digest) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(digest) ?? 1) - 1;
      if (left > 0) this.#counts.set(digest, left);
      else this.#counts.delete(digest);
    };
  }
}
