import { Chunks, chunkLimits } from '#console/chunks.ts';
import { LineCutter } from '#console/lines.ts';

/** Bytes that are looked at in one second: more than twenty times what a serial port can send. */
const mostPerSecond = 256 * 1024;

const newline = 0x0a;

/** What a machine prints, on its way to pieces of bounded size and rate. Times are milliseconds. */
export class Printed {
  readonly #cutter = new LineCutter();
  readonly #chunks: Chunks;
  #heardAt = 0;
  #second = { began: 0, bytes: 0 };

  /** `kept`: characters that were told before. */
  constructor(kept: number) {
    this.#chunks = new Chunks(chunkLimits, kept);
  }

  hear(bytes: Buffer, now: number): void {
    this.#heardAt = now;
    if (now - this.#second.began >= 1000) this.#second = { began: now, bytes: 0 };
    this.#second.bytes += bytes.length;
    if (this.#second.bytes <= mostPerSecond) this.#chunks.add(this.#cutter.push(bytes));
    else this.#chunks.leaveOut(bytes.filter((byte) => byte === newline).length);
  }

  /** The pieces that are due; `last`: all that there is. */
  due(now: number, last = false): string[] {
    if (this.#cutter.pending && (last || now - this.#heardAt >= chunkLimits.restMs))
      this.#chunks.add(this.#cutter.rest());
    const pieces: string[] = [];
    for (let next = this.#chunks.take(now, last); next !== undefined; next = this.#chunks.take(now, last))
      pieces.push(next);
    return pieces;
  }

  /** Characters that were told, with those of before. */
  get kept(): number {
    return this.#chunks.taken;
  }

  get isFull(): boolean {
    return this.#chunks.full;
  }
}
