/**
 * A set of small numbers that finds its next member at once, however many are missing: a bitmap, and bitmaps of which of its
 * words have a member. Pools of millions of addresses are searched on every DISCOVER.
 */
export class AddressSet {
  /** The members at first, then for each level below one bit a word of it. */
  readonly #levels: Uint32Array[] = [];

  /** Holds every number below `size`. */
  constructor(size: number) {
    for (let bits = size; ; bits = Math.ceil(bits / 32)) {
      const words = new Uint32Array(Math.ceil(bits / 32)).fill(0xffffffff);
      if (bits % 32 !== 0) words[words.length - 1] = 2 ** (bits % 32) - 1;
      this.#levels.push(words);
      if (words.length <= 1) return;
    }
  }

  add(number: number): void {
    let at = number;
    for (const words of this.#levels) {
      words[at >>> 5] = (words[at >>> 5] ?? 0) | (1 << (at & 31));
      at >>>= 5;
    }
  }

  delete(number: number): void {
    let at = number;
    for (const words of this.#levels) {
      const left = (words[at >>> 5] ?? 0) & ~(1 << (at & 31));
      words[at >>> 5] = left;
      if (left !== 0) return;
      at >>>= 5;
    }
  }

  /** The smallest member that is not below `from`. */
  next(from: number): number | undefined {
    let at = from;
    for (let level = 0; level < this.#levels.length; level++) {
      const word = (this.#levels[level]?.[at >>> 5] ?? 0) & (0xffffffff << (at & 31));
      if (word !== 0) return this.#firstBelow(level, (at & ~31) + lowestBit(word));
      at = (at >>> 5) + 1;
    }
    return undefined;
  }

  #firstBelow(level: number, bit: number): number {
    let found = bit;
    for (let at = level - 1; at >= 0; at--) found = found * 32 + lowestBit(this.#levels[at]?.[found] ?? 0);
    return found;
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
