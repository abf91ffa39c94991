/** Numbers that a seed repeats. */
export interface Random {
  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number;
  bytes(length: number): Buffer;
  pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item;
}

/** A 32-bit xorshift generator (Marsaglia 2003): poor for secrets, quick and the same everywhere. */
export function randomFrom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) | 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  for (let warmUp = 0; warmUp < 8; warmUp++) next();
  const below = (limit: number) => next() % limit;
  return {
    below,
    bytes(length) {
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; at++) bytes[at] = next();
      return bytes;
    },
    pick: (items) => items[below(items.length)]!,
  };
}
