import type { Log } from '#base/log.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';

/**
 * What strangers make us write, in messages: a thousand of them that power on together are told in full, a flood is not. A named machine
 * has a rate of its own, since anybody may speak in its name.
 */
const rates = { strangers: { perSecond: 100, burst: 8000 }, named: { perSecond: 5, burst: 200 } } as const;
/** That there were more is told at most so often. */
const tellEveryMs = 60_000;

/** Which messages are written of: a line of the log for each, and a line of the timeline for each step of a boot. */
export class WrittenMessages {
  readonly #log: Log;
  readonly #strangers: RateLimiter;
  readonly #named: RateLimiter;
  readonly #now: () => number;
  #unwritten = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
    this.#strangers = new RateLimiter(rates.strangers, 1, now);
    this.#named = new RateLimiter(rates.named, undefined, now);
  }

  /** Whether a message of this client is written of. `client`: as `ClientFacts.key` writes it. */
  take(client: string, isNamed: boolean): boolean {
    const isTooMuch = (isNamed ? this.#named.take(client) : this.#strangers.take('all')) > 0;
    if (isTooMuch) this.#unwritten++;
    this.#tell();
    return !isTooMuch;
  }

  #tell(): void {
    if (this.#unwritten === 0 || this.#now() - this.#toldAt < tellEveryMs) return;
    this.#toldAt = this.#now();
    this.#log.warn({ messages: this.#unwritten }, 'DHCP: so many messages that some were not logged');
    this.#unwritten = 0;
  }
}
