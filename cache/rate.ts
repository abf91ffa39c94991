/** Over so long, in milliseconds, a rate is looked at: shorter ones jump, longer ones tell of what has changed since. */
const spanMs = 10_000;

/** How fast bytes arrive now. */
export class Rate {
  #samples: { at: number; bytes: number }[] = [];

  /** Notes how many bytes are here; fewer than before when a transfer begins anew. */
  note(bytes: number, now: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && bytes < last.bytes) this.#samples = [];
    // A few a second are enough.
    if (this.#samples.length > 1 && now - (this.#samples.at(-2)?.at ?? 0) < spanMs / 40) this.#samples.pop();
    this.#samples.push({ at: now, bytes });
    this.#forgetBefore(now - spanMs);
  }

  /** Bytes a second, also while nothing arrives; undefined before it can be said. */
  bytesPerSecond(now: number): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || now - first.at < 500) return undefined;
    return Math.round(((last.bytes - first.bytes) / (now - first.at)) * 1000);
  }

  #forgetBefore(time: number): void {
    while (this.#samples.length > 2 && (this.#samples[1]?.at ?? time) < time) this.#samples.shift();
  }
}

/** Seconds until all of it is here; undefined when nobody can say. */
export function secondsLeft(
  receivedBytes: number,
  sizeBytes: number | undefined,
  bytesPerSecond: number | undefined,
): number | undefined {
  if (sizeBytes === undefined || !bytesPerSecond) return undefined;
  return Math.ceil(Math.max(0, sizeBytes - receivedBytes) / bytesPerSecond);
}
