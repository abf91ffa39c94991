/** Before any answer was timed; firmware answers a first packet within a few milliseconds, a busy emulator within 100. */
const firstMs = 500;
const leastMs = 10;
/** Longer than the 5 s after which clients speak up by themselves: some only do when nothing has come for so long. */
const mostMs = 8000;
/** Silence after which the client counts as gone. */
const patienceMs = 30_000;

/** The part of the usual round trip below which an answer is taken for one to something older. */
const soonest = 0.75;
/** Smoothing of the round trip and of its variation (RFC 6298 §2). */
const gain = { roundTrip: 1 / 8, variation: 1 / 4 } as const;

/**
 * How long to wait before sending again: as TCP does (RFC 6298), the smoothed round trip and four times its variation, doubled with
 * every try. A round trip is not timed when anything was sent twice in it, since the answer may be to either (Karn's rule); until
 * one is, the doubled wait stays: where many machines load at once it is the right one.
 */
export class RetransmissionTimer {
  readonly #mostMs: number;
  #roundTripMs: number | undefined;
  #variationMs = 0;
  /** When what is not acknowledged was sent for the first time; undefined once it was sent again. */
  #sentAt: number | undefined;
  #firstSentAt = 0;
  #doublings = 0;
  #silentMs = 0;

  /**
   * `askedMs`: the client's `timeout` option (RFC 2349). It bounds the waits and does not set them: curl asks for 6 s
   * whatever the network, which would cost 6 s for every datagram lost.
   */
  constructor(askedMs: number | undefined) {
    this.#mostMs = Math.min(mostMs, askedMs ?? mostMs);
  }

  get timeoutMs(): number {
    return Math.min(this.#mostMs, this.#baseMs * 2 ** this.#doublings);
  }

  sent(now: number): void {
    this.#sentAt = now;
    this.#firstSentAt = now;
  }

  /** Whether an answer at this time is one to what was sent before: it comes sooner than one to what is under way can. */
  isTooSoon(now: number): boolean {
    return now - this.#firstSentAt < soonest * (this.#roundTripMs ?? 0);
  }

  resent(): void {
    this.#sentAt = undefined;
  }

  acknowledged(now: number): void {
    this.#silentMs = 0;
    if (this.#sentAt === undefined) return;
    this.#doublings = 0;
    this.#measured(now - this.#sentAt);
  }

  /** Counts a time-out; false when the client is to be given up. */
  expired(): boolean {
    this.#silentMs += this.timeoutMs;
    this.#doublings += 1;
    return this.#silentMs < patienceMs;
  }

  get #baseMs(): number {
    if (this.#roundTripMs === undefined) return firstMs;
    return Math.max(leastMs, this.#roundTripMs + 4 * this.#variationMs);
  }

  #measured(sampleMs: number): void {
    if (this.#roundTripMs === undefined) {
      this.#roundTripMs = sampleMs;
      this.#variationMs = sampleMs / 2;
      return;
    }
    const off = Math.abs(this.#roundTripMs - sampleMs);
    this.#variationMs += gain.variation * (off - this.#variationMs);
    this.#roundTripMs += gain.roundTrip * (sampleMs - this.#roundTripMs);
  }
}
