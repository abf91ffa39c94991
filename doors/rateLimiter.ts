/** How many requests one client may make: `burst` at once, and `perSecond` in the long run. */
export interface Rate {
  perSecond: number;
  burst: number;
}

interface Bucket {
  left: number;
  /** Milliseconds of the clock when `left` was right. */
  at: number;
}

const defaultMaxKeys = 10_000;

/**
 * A token bucket for each key. What it keeps is bounded: beyond `maxKeys` the key that was quiet longest is forgotten, which gives it
 * its whole burst back.
 */
export class RateLimiter {
  readonly #rate: Rate;
  readonly #maxKeys: number;
  readonly #now: () => number;
  /** In the order of last use. */
  readonly #buckets = new Map<string, Bucket>();

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor(rate: Rate, maxKeys = defaultMaxKeys, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
    this.#now = now;
  }

  /** 0 when `key` has something left, of which `cost` is taken; else the seconds after which it may try again. */
  take(key: string, cost: 0 | 1 = 1): number {
    const bucket = this.#bucket(key);
    if (bucket.left < 1) return (1 - bucket.left) / this.#rate.perSecond;
    bucket.left -= cost;
    return 0;
  }

  /** Takes `cost` whether it is there or not, down to one burst of debt. */
  charge(key: string, cost: number): void {
    const bucket = this.#bucket(key);
    bucket.left = Math.max(bucket.left - cost, -this.#rate.burst);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #bucket(key: string): Bucket {
    const at = this.#now();
    const known = this.#buckets.get(key);
    const bucket = known === undefined ? { left: this.#rate.burst, at } : this.#refilled(known, at);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) this.#forgetOldest();
    return bucket;
  }

  #refilled({ left, at }: Bucket, now: number): Bucket {
    const { perSecond, burst } = this.#rate;
    return { left: Math.min(burst, left + ((now - at) / 1000) * perSecond), at: now };
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
