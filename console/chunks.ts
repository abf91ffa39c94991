export interface ChunkLimits {
  /** Characters of one chunk. */
  chunk: number;
  /** Characters that may wait; of more the oldest lines go. */
  waiting: number;
  /** Characters of the whole recording. */
  total: number;
  /** Milliseconds between two chunks. */
  everyMs: number;
  /** Milliseconds after which a line that has only begun is taken as it is. */
  restMs: number;
}

/** A chunk a second of 4000 characters is a third of what a serial port of 115200 baud can send: what comes in bursts waits, what never ends is thinned. */
export const chunkLimits: ChunkLimits = {
  chunk: 4000,
  waiting: 256 * 1024,
  total: 2 * 1024 * 1024,
  everyMs: 1000,
  restMs: 1000,
};

/** Gathers lines into chunks of bounded size and rate. Times are milliseconds. */
export class Chunks {
  readonly #limits: ChunkLimits;
  #lines: string[] = [];
  #waiting = 0;
  #leftOut = 0;
  #taken: number;
  #takenAt = Number.NEGATIVE_INFINITY;

  /** `taken`: characters of the recording that were taken before, by another run of the agent. */
  constructor(limits: ChunkLimits = chunkLimits, taken = 0) {
    this.#limits = limits;
    this.#taken = taken;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      this.#waiting += line.length + 1;
    }
    let dropped = 0;
    while (this.#waiting > this.#limits.waiting && dropped < this.#lines.length) {
      this.#waiting -= (this.#lines[dropped] as string).length + 1;
      dropped++;
    }
    this.#lines = dropped === 0 ? this.#lines : this.#lines.slice(dropped);
    this.#leftOut += dropped;
  }

  /** So many lines were not even looked at. */
  leaveOut(lines: number): void {
    this.#leftOut += lines;
  }

  /** Characters that were taken in all. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether the recording is as long as it may be. */
  get full(): boolean {
    return this.#taken >= this.#limits.total;
  }

  /** The next chunk when one is due; undefined when none is, or there is nothing. `last`: due or not. */
  take(now: number, last = false): string | undefined {
    if (this.full || (this.#lines.length === 0 && this.#leftOut === 0)) return undefined;
    if (!last && now - this.#takenAt < this.#limits.everyMs) return undefined;
    const lines = [...this.#noteOfLeftOut(), ...this.#fitting()];
    const text = lines.join('\n');
    this.#takenAt = now;
    this.#taken += text.length;
    return text;
  }

  #noteOfLeftOut(): string[] {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count === 0 ? [] : [`[${count} lines left out: they came too fast]`];
  }

  /** As many lines as fit, less a little for a note. */
  #fitting(): string[] {
    let size = 0;
    let count = 0;
    for (const line of this.#lines) {
      if (count > 0 && size + line.length + 1 > this.#limits.chunk - 64) break;
      size += line.length + 1;
      count++;
    }
    this.#waiting -= size;
    return this.#lines.splice(0, count);
  }
}
