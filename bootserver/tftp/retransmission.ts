/** Before any answer was timed; firmware answers a first packet within a few milliseconds, a busy emulator within 100. */
const firstMs = 500;
const leastMs = 20;
/** Longer than the 5 s after which clients speak up by themselves: some only do when nothing has come for so long. */
const mostMs = 8000;
/** Silence after which the client counts as gone. */
const patienceMs = 30_000;

/**
 * How long to wait before sending again: four times the smoothed round trip, doubled with every try. A round trip is not
 * timed when anything was sent twice in it, since the answer may be to either (Karn's rule).
 */
export class RetransmissionTimer {
  readonly #mostMs: number;
  #roundTripMs: number | undefined;
  #sentAt: number | undefined;
  #tries = 0;
  #silentMs = 0;

  /**
   * `askedMs`: the client's `timeout` option (RFC 2349). It bounds the waits and does not set them: curl asks for 6 s
   * whatever the network, which would cost 6 s for every datagram lost.
   */
  constructor(askedMs: number | undefined) {
    this.#mostMs = Math.min(mostMs, askedMs ?? mostMs);
  }

  get timeoutMs(): number {
    const base = this.#roundTripMs === undefined ? firstMs : Math.max(leastMs, 4 * this.#roundTripMs);
    return Math.min(this.#mostMs, base * 2 ** this.#tries);
  }

  sent(now: number): void {
    this.#sentAt = now;
  }

  resent(): void {
    this.#sentAt = undefined;
  }

  acknowledged(now: number): void {
    this.#tries = 0;
    this.#silentMs = 0;
    if (this.#sentAt === undefined) return;
    const sample = now - this.#sentAt;
    this.#roundTripMs = this.#roundTripMs === undefined ? sample : this.#roundTripMs * 0.8 + sample * 0.2;
  }

  /** Counts a time-out; false when the client is to be given up. */
  expired(): boolean {
    this.#silentMs += this.timeoutMs;
    this.#tries += 1;
    return this.#silentMs < patienceMs;
  }
}
