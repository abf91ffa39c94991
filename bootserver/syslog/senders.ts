import { clientKey } from '#doors/clientKey.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';

/** An installer unpacks some thousand packages and says so; what goes on writes for ever is broken. */
const ofOne = { perSecond: 50, burst: 1000 };
const ofAll = { perSecond: 500, burst: 5000 };
/** Looking up an address may cost a read of the kernel's neighbour table. */
const lookUps = { perSecond: 100, burst: 500 };
/** For so long an address is taken to be that machine's, in milliseconds. */
const knownMs = 10_000;
const mostKnown = 4096;

/**
 * Decides whose line one is, and whether there is room for it. Source addresses can be made up: those that are nobody's use up only
 * the look-ups, so that machines known already go on being heard in a flood.
 */
export class Senders {
  readonly #macAt: (address: string) => string | undefined;
  readonly #now: () => number;
  readonly #known = new Map<string, { mac: string; until: number }>();
  readonly #ofOne: RateLimiter;
  readonly #ofAll: RateLimiter;
  readonly #lookUps: RateLimiter;
  #dropped = { unknown: 0, tooMany: 0 };

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor(macAt: (address: string) => string | undefined, now: () => number = () => performance.now()) {
    this.#macAt = macAt;
    this.#now = now;
    this.#ofOne = new RateLimiter(ofOne, undefined, now);
    this.#ofAll = new RateLimiter(ofAll, undefined, now);
    this.#lookUps = new RateLimiter(lookUps, undefined, now);
  }

  /** The machine at `address` when one more line of it is taken. */
  admit(address: string): string | undefined {
    const mac = this.#machineAt(address);
    if (mac === undefined) this.#dropped.unknown++;
    else if (this.#ofOne.take(clientKey(address)) > 0 || this.#ofAll.take('all') > 0) this.#dropped.tooMany++;
    else return mac;
    return undefined;
  }

  /** Lines dropped since it was asked last. */
  takeDropped(): { unknown: number; tooMany: number } {
    const dropped = this.#dropped;
    this.#dropped = { unknown: 0, tooMany: 0 };
    return dropped;
  }

  #machineAt(address: string): string | undefined {
    const known = this.#known.get(address);
    if (known !== undefined && this.#now() < known.until) return known.mac;
    this.#known.delete(address);
    if (this.#lookUps.take('all') > 0) return undefined;
    const mac = this.#macAt(address);
    if (mac !== undefined) this.#remember(address, mac);
    return mac;
  }

  #remember(address: string, mac: string): void {
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(address, { mac, until: this.#now() + knownMs });
  }
}
