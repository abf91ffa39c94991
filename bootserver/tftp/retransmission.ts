/** Before any answer was timed; firmware answers a first packet within a few milliseconds, a busy emulator within 100. */
const firstMs = 500;
const leastMs = 100;
const mostMs = 4000;
/** Tries without a sign of the client before it counts as gone: about 20 s. */
const tries = 9;

/**
 * How long to wait before sending again: four times the smoothed round trip, doubled with every try. A round trip is not
 * timed when anything was sent twice in it, since the answer may be to either (Karn's rule).
 */
export class RetransmissionTimer {
  readonly #fixedMs: number | undefined;
  #roundTripMs: number | undefined;
  #sentAt: number | undefined;
  #tries = 0;

  /** `fixedMs`: what the client asked for by the `timeout` option (RFC 2349). */
  constructor(fixedMs: number | undefined) {
    this.#fixedMs = fixedMs;
  }

  get timeoutMs(): number {
    if (this.#fixedMs !== undefined) return this.#fixedMs;
    const base = this.#roundTripMs === undefined ? firstMs : Math.max(leastMs, 4 * this.#roundTripMs);
    return Math.min(mostMs, base * 2 ** this.#tries);
  }

  sent(now: number): void {
    this.#sentAt = now;
  }

  resent(): void {
    this.#sentAt = undefined;
  }

  acknowledged(now: number): void {
    this.#tries = 0;
    if (this.#sentAt === undefined) return;
    const sample = now - this.#sentAt;
    this.#roundTripMs = this.#roundTripMs === undefined ? sample : this.#roundTripMs * 0.8 + sample * 0.2;
  }

  /** Counts a time-out; false when the client is to be given up. */
  expired(): boolean {
    this.#tries += 1;
    return this.#tries <= tries;
  }
}
