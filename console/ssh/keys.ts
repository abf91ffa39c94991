/**
 * Keys as an operator may send them: never all of those that leave the serial port, after which the rest would be commands to the BMC. The last
 * of them is dropped; none waits for the next, since a lone escape means something to firmware.
 */
export class PortKeys {
  readonly #leave: Buffer;
  /** The last that were sent, one fewer than those that leave. */
  #before: Buffer = Buffer.alloc(0);

  constructor(leave = '') {
    this.#leave = Buffer.from(leave, 'latin1');
  }

  typed(keys: Buffer): Buffer {
    return this.#leave.length === 0 ? keys : Buffer.from([...keys].filter((key) => this.#passes(key)));
  }

  #passes(key: number): boolean {
    const sequence = Buffer.concat([this.#before, Buffer.of(key)]);
    if (sequence.equals(this.#leave)) return false;
    this.#before = sequence.subarray(Math.max(0, sequence.length - this.#leave.length + 1));
    return true;
  }
}
